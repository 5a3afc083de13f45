// A session of opencode as far as plugins notice: runs the hooks of the plugin file that is the first argument.
import { pathToFileURL } from "node:url"

const [file, directory] = process.argv.slice(2)
const module = await import(pathToFileURL(file))
let text = ""
for await (const chunk of process.stdin) text += chunk
const { parents, steps } = JSON.parse(text)
const calls = []
const recorded = (name) => async (options) => void calls.push([name, options])
const client = {
  app: { log: recorded("log") },
  tui: { showToast: recorded("toast") },
  session: {
    abort: recorded("abort"),
    promptAsync: recorded("prompt"),
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
  },
}
const hooks = await module.AgentHooks({ client, directory, worktree: directory })
const results = []
for (const { hook, input, output } of steps) {
  const args = output?.args // opencode runs these, whatever stands in `output` afterwards
  let error = null
  try {
    await hooks[hook](input, output)
  } catch (thrown) {
    error = thrown.message
  }
  results.push({ error, output, args })
}
process.stdout.write(JSON.stringify({ exports: Object.keys(module), results, calls }))
