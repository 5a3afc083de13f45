// Written by `agent-hooks install opencode`, which also updates and removes it. It asks agent-hooks about the events of
// opencode, as other hosts do through a command in their settings. A gate whose command cannot answer is closed.
import { spawn } from "node:child_process"

// The command line without the event, and by event the seconds until the command is given up.
const COMMAND = "@COMMAND@"
const SECONDS = "@SECONDS@"
// What does not happen unless the command says that it may.
const GATES = new Set(["PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "PreCompact"])
const LOOKUP_MS = 2000

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
const joined = (...texts) => texts.filter((text) => typeof text === "string" && text.trim()).join("\n\n")
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value))

function answerOf(event, code, stdout, stderr) {
  let body = {}
  if (stdout.trim()) {
    try {
      body = JSON.parse(stdout)
    } catch {
      body = undefined
    }
  }
  if (!isObject(body) || (code !== 0 && code !== 2)) return { failed: joined(`the command ended with ${code}`, stderr) }
  const specific = isObject(body.hookSpecificOutput) ? body.hookSpecificOutput : {}
  const permission = specific.permissionDecision
  const behavior = specific.decision?.behavior
  const isBlocked = body.decision === "block" || (permission ?? "allow") !== "allow" || behavior === "deny"
  if (code === 2 && !isBlocked && event === "Stop") return { failed: joined("the command failed", stderr) }
  const reason = specific.permissionDecisionReason ?? body.reason ?? specific.decision?.message ?? body.stopReason
  const isNew = "updatedInput" in specific
  const isWrong = isNew && (permission !== "allow" || !isObject(specific.updatedInput))
  return {
    denied: isBlocked || isWrong || code === 2 ? joined(reason) || joined(stderr) || "No reason was given." : undefined,
    allowed: behavior === "allow",
    args: isNew ? specific.updatedInput : undefined,
    result: specific.updatedToolOutput,
    context: specific.additionalContext,
    message: body.systemMessage,
    aside: code === 0 ? stderr.trim() : "",
    ends: body.continue === false,
  }
}

function run(event, payload) {
  return new Promise((resolve) => {
    const limit = SECONDS[event]
    const output = { stdout: [], stderr: [] }
    let child
    const kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL") // all that it started
      } catch {
        child.kill("SIGKILL")
      }
    }
    try {
      const text = JSON.stringify(payload)
      const args = [...COMMAND.slice(1), "--event", event, "--timeout", String(limit - 1)]
      child = spawn(COMMAND[0], args, { cwd: payload.cwd, detached: true, stdio: ["pipe", "pipe", "pipe"] })
      const timer = setTimeout(() => {
        kill()
        resolve({ failed: `there was no answer within ${limit} seconds` })
      }, limit * 1000)
      child.on("error", (error) => {
        clearTimeout(timer)
        resolve({ failed: `the command cannot be started: ${error.message}` })
      })
      for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => output[name].push(chunk))
      child.on("close", (code, signal) => {
        clearTimeout(timer)
        const [stdout, stderr] = [output.stdout, output.stderr].map((parts) => Buffer.concat(parts).toString("utf8"))
        resolve(answerOf(event, code ?? signal, stdout, stderr))
      })
      child.stdin.on("error", () => {}) // it may answer without reading
      child.stdin.end(text)
    } catch (error) {
      resolve({ failed: `the command cannot be asked: ${error.message}` })
    }
  })
}

const textOfParts = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\n")

// The parts of a result that are MCP's own, or opencode's text.
const resultOf = (output) => (Array.isArray(output.content) ? textOfParts(output.content) : output.output)

function emptied(value, key = "") {
  if (typeof value === "string") return /id$/i.test(key) ? value : ""
  if (Array.isArray(value)) return value.map((item) => emptied(item))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, emptied(item, name)]))
}

function replaceResult(output, text) {
  if (Array.isArray(output.content)) output.content = [{ type: "text", text }]
  else output.output = text
  delete output.structuredContent
  delete output.attachments
  if (output.metadata) output.metadata = emptied(output.metadata)
}

function addToResult(output, text) {
  if (Array.isArray(output.content)) output.content.push({ type: "text", text })
  else output.output = joined(asText(output.output ?? ""), text)
}

export const AgentHooks = async ({ client, directory }) => {
  const parents = new Map() // by session that a subagent has: the session that started it
  const begun = new Set() // sessions that have had their first prompt here
  const created = new Set()
  const active = new Set() // sessions that a hook made go on, until the next prompt
  const forced = new Map() // the prompt by which it did
  const denied = new Set() // calls that did not run
  const failed = new Set()
  const waiting = new Map() // by call: context for the model, which only a result can carry

  const quietly = async (act) => {
    try {
      return await act()
    } catch {
      return undefined // to tell people, or to ask the server, is not worth an error
    }
  }
  const log = (message) => quietly(() => client.app.log({ body: { service: "agent-hooks", level: "warn", message } }))
  const tell = (message) => {
    log(message)
    quietly(() => client.tui.showToast({ body: { title: "agent-hooks", message, variant: "warning" } }))
  }
  const parentOf = async (session) => {
    if (!parents.has(session)) {
      const late = new Promise((resolve) => setTimeout(resolve, LOOKUP_MS).unref?.())
      const found = await Promise.race([quietly(() => client.session.get({ path: { id: session } })), late])
      parents.set(session, found?.data?.parentID)
    }
    return parents.get(session)
  }
  const ask = async (event, session, fields) => {
    if (!(event in SECONDS)) return {}
    let root = session
    for (let parent = session; parent; parent = await parentOf(parent)) root = parent
    const agent = root === session ? {} : { agent_id: session }
    const payload = { hook_event_name: event, session_id: root, ...agent, cwd: directory, ...fields }
    const answer = await run(event, payload)
    if (answer.failed) {
      const why = `agent-hooks: ${answer.failed.trim()}`
      tell(why)
      return GATES.has(event) ? { denied: why, isTold: true } : {}
    }
    answer.isTold = false
    if (answer.message) tell(answer.message)
    if (answer.aside) log(answer.aside)
    if (answer.ends) quietly(() => client.session.abort({ path: { id: session } }))
    return answer
  }
  const refuse = (answer, { isTold = true } = {}) => {
    const why = joined(answer.denied, answer.context)
    if (!isTold) tell(why) // of an error here, opencode shows people no more than that there was one
    throw new Error(why)
  }
  const stopped = async (session) => {
    if (await parentOf(session)) return ask("SubagentStop", session, { stop_hook_active: false })
    const answer = await ask("Stop", session, { stop_hook_active: active.has(session) })
    if (answer.denied === undefined) return
    active.add(session)
    forced.set(session, answer.denied)
    const body = { parts: [{ type: "text", text: answer.denied }] }
    await quietly(() => client.session.promptAsync({ path: { id: session }, body }))
  }
  const failedCall = (part) => {
    if (denied.delete(part.callID) || failed.has(part.callID)) return
    failed.add(part.callID)
    waiting.delete(part.callID)
    const { input, error } = part.state
    const fields = { tool_name: part.tool, tool_input: input, tool_use_id: part.callID, error: asText(error) }
    return ask("PostToolUseFailure", part.sessionID, fields)
  }

  return {
    "tool.execute.before": async (input, output) => {
      const fields = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const answer = await ask("PreToolUse", input.sessionID, fields)
      if (answer.denied !== undefined) {
        denied.add(input.callID)
        refuse(answer)
      }
      if (answer.context) waiting.set(input.callID, answer.context)
      if (answer.args) {
        // opencode runs the object that it passed here.
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
    },
    "tool.execute.after": async (input, output) => {
      if (!isObject(output)) return // it failed
      const fields = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID }
      const answer = await ask("PostToolUse", input.sessionID, { ...fields, tool_response: resultOf(output) })
      const context = joined(waiting.get(input.callID), answer.context)
      waiting.delete(input.callID)
      if (answer.result !== undefined) replaceResult(output, asText(answer.result))
      else if (answer.denied !== undefined) replaceResult(output, answer.denied)
      if (context) addToResult(output, context)
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const prompt = textOfParts(output.parts)
      if (forced.get(session) === prompt) return void forced.delete(session)
      forced.delete(session)
      active.delete(session)
      const isChild = Boolean(await parentOf(session))
      const contexts = []
      if (!begun.has(session)) {
        begun.add(session)
        const fields = isChild ? { agent_type: input.agent } : { source: created.has(session) ? "startup" : "resume" }
        contexts.push((await ask(isChild ? "SubagentStart" : "SessionStart", session, fields)).context)
      }
      // The task of a subagent was the argument of a tool call.
      const answer = isChild ? {} : await ask("UserPromptSubmit", session, { prompt })
      if (answer.denied !== undefined) refuse(answer, answer)
      const context = joined(...contexts, answer.context)
      const last = output.parts.at(-1)
      // Parts are ordered by their ids.
      const place = last && { id: `${last.id}a`, sessionID: last.sessionID, messageID: last.messageID }
      if (context && place) output.parts.push({ ...place, type: "text", text: context, synthetic: true })
    },
    "command.execute.before": async (input, output) => {
      const command = { command_name: input.command, command_args: input.arguments, prompt: textOfParts(output.parts) }
      const fields = { expansion_type: "slash_command", ...command }
      const answer = await ask("UserPromptExpansion", input.sessionID, fields)
      if (answer.denied !== undefined) refuse(answer, answer)
    },
    "permission.ask": async (input, output) => {
      const fields = { tool_name: input.type, tool_input: { pattern: input.pattern, ...input.metadata } }
      const answer = await ask("PermissionRequest", input.sessionID, { ...fields, tool_use_id: input.callID })
      if (answer.denied !== undefined) output.status = "deny"
      else if (answer.allowed) output.status = "allow"
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await ask("PreCompact", input.sessionID, {})
      if (answer.denied !== undefined) refuse(answer)
      if (answer.context) output.context.push(answer.context)
    },
    event: async ({ event }) => {
      const { type, properties } = event
      const session = properties?.sessionID ?? properties?.info?.id
      if (type === "session.created") {
        created.add(session)
        parents.set(session, properties.info.parentID)
      } else if (type === "session.idle") await stopped(session)
      else if (type === "session.compacted") await ask("PostCompact", session, {})
      else if (type === "session.deleted") await ask("SessionEnd", session, { reason: "deleted" })
      else if (type === "session.error" && session) {
        const { name, data } = properties.error ?? {}
        await ask("StopFailure", session, { error: name ?? "unknown", error_details: data?.message })
      } else if (type === "message.part.updated" && properties.part?.type === "tool") {
        if (properties.part.state?.status === "error") await failedCall(properties.part)
      }
    },
  }
}
