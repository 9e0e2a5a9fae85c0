"""The command line that starts a bot in its sandbox: the sandbox launcher with its steps."""

from collections.abc import Sequence

from referee.harness.isolation import launcher_build
from referee.harness.isolation.layers import bubblewrap, namespaces
from referee.harness.isolation.layers.namespaces import SandboxFiles
from referee.harness.isolation.supervisor import STATUS


def sandbox_command(
    namespace: str | None, files: SandboxFiles, group: Sequence[str], steps: Sequence[str]
) -> list[str]:
    """Returns a command line that joins the control group, enters namespaces, and takes further steps there.

    `namespace`: how namespaces are made (`referee.harness.isolation.probe.Machine`).
    """
    launcher = launcher_build.command()
    if namespace == "bwrap":  # its namespaces hide the control groups
        outside = [*launcher, *group, "--"] if group else []
        inside = [*launcher, "status", STATUS, "init", files.scratch]
        return [*outside, *bubblewrap.command(files, launcher), *inside, *steps]
    words = [*launcher, "status", STATUS, *group]
    if namespace is not None:
        words += [*namespaces.enter(user=namespace == "user"), *namespaces.mount(files), "init", files.scratch]
    return [*words, *steps]
