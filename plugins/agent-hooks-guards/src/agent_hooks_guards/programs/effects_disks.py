"""What known programs do to disks and filesystems: their devices are written."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .noting import Noting


def _format(noting: Noting) -> None:
    """All operands are devices, or files that stand for one."""
    for word in noting.operands():
        noting.file("write", word)


def _parted(noting: Noting) -> None:
    words = noting.operands()
    only_looks = noting.options.has("-l|--list") or (
        len(words) > 1 and all(word in ("print", "free", "p", "unit", "s", "B", "MiB") for word in words[1:])
    )
    for word in words[:1]:
        noting.file("read" if only_looks else "write", word)


def _named(noting: Noting) -> None:
    """Volumes by name, with or without their device's folder."""
    for word in noting.operands():
        noting.file("delete", word if "/" in word[:1] else f"/dev/{word}", recursive=True)


_CRYPTSETUP = frozenset(
    ("luksFormat", "luksErase", "erase", "luksKillSlot", "luksRemoveKey", "reencrypt", "luksHeaderRestore")
)


def _cryptsetup(noting: Noting) -> None:
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    if action in _CRYPTSETUP or (action == "open" and "plain" in noting.command.argv):
        for word in words[:1]:
            noting.file("write", word)


def _diskutil(noting: Noting) -> None:
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    name = action.lower()
    if name.startswith(("erase", "partition", "zero", "random", "secureerase", "reformat", "delete")) or "delete" in (
        word.lower() for word in words
    ):
        target = words[-1] if words and not name.startswith("partition") else (words or [UNKNOWN])[0]
        noting.file("write", target if target.startswith("/") else f"/dev/{target}")


def _pool(noting: Noting) -> None:
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    if action in ("create", "add", "labelclear", "replace"):
        for word in words[1:] if action != "labelclear" else words:
            if word.startswith("/") or UNKNOWN in word:
                noting.file("write", word)
    elif action == "destroy":
        for word in words[:1]:
            noting.file("delete", f"/{word}", recursive=True)


def _nvme(noting: Noting) -> None:
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    if action in ("format", "sanitize", "delete-ns", "write-zeroes", "dsm", "fw-download", "fw-commit", "write"):
        for word in words[:1]:
            noting.file("write", word)


def _image(noting: Noting) -> None:
    """``qemu-img create FILE SIZE``, ``qemu-img convert FILE FILE``."""
    words = noting.operands()
    if noting.options.subcommand[:1] == ("create",) or words[:1] == ["create"]:
        target = words[-2:-1] if len(words) > 1 else words
    elif noting.options.subcommand[:1] == ("convert",) or words[:1] == ["convert"]:
        target = words[-1:]
    else:
        target = []
    for word in target:
        noting.file("write", word)


_MAKERS = (
    "ntfs-3g.mkntfs"
    " mkfs mke2fs mkdosfs mkntfs mkexfatfs mkswap mkudffs newfs newfs_msdos newfs_hfs newfs_apfs mkisofs mkreiserfs"
    " mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.exfat mkfs.f2fs"
    " mkfs.minix mkfs.cramfs mkfs.bfs mkfs.jfs mkfs.reiserfs mkfs.udf mkfs.erofs mkfs.ubifs mkfs.jffs2 mkfs.nilfs2"
    " mkfs.ocfs2 mkfs.gfs2 mkfs.bcachefs mkfs.lustre pvcreate pvremove flash_erase flash_eraseall blkdiscard blkzone"
    " sg_format ddrescue"
)

DISKS: dict[str, Callable[[Noting], None]] = {
    **dict.fromkeys(_MAKERS.split(), _format),
    "parted": _parted,
    "cryptsetup": _cryptsetup,
    **dict.fromkeys("vgremove lvremove vgreduce lvreduce".split(), _named),
    "diskutil": _diskutil,
    "zpool": _pool,
    "zfs": _pool,
    "nvme": _nvme,
    "qemu-img": _image,
}
