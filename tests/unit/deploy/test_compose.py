"""The compose file: its services are ours or named images, and ours have no rights. The rehearsal builds and runs the image."""

import re
from pathlib import Path

import yaml

REPO = Path(__file__).parents[3]
CONTAINER = REPO / "deploy" / "container"
_OURS = {"prefect", "deployments", "worker", "serve"}


def test_our_services_have_no_rights():
    """Each is the image of the Containerfile, on a root that cannot be written, without capabilities."""
    services = yaml.safe_load((CONTAINER / "compose.yaml").read_text())["services"]
    ours = {name: service for name, service in services.items() if service["image"] == "localhost/iomine"}
    assert ours.keys() == _OURS
    for service in ours.values():
        assert (True, ["ALL"], ["no-new-privileges"]) == (service["read_only"], service["cap_drop"], service["security_opt"])
        build = service["build"]
        assert (CONTAINER / build["context"] / build["dockerfile"]).is_file()
    assert not re.search(r"\b(privileged|root|docker\.sock)\b", (CONTAINER / "compose.yaml").read_text())


def test_what_the_services_mount_is_there():
    """A volume is declared, a file is one of the checkout's or one that the head of the file names."""
    text = (CONTAINER / "compose.yaml").read_text()
    compose = yaml.safe_load(text)
    sources = {volume.split(":")[0] for service in compose["services"].values() for volume in service.get("volumes", ())}
    named = {source for source in sources if not source.startswith((".", "$"))}
    assert compose["volumes"].keys() == named
    head = text.partition("\nname:")[0]
    own = {source for source in sources if source.startswith(".") and not (CONTAINER / source).exists()}
    assert not {source for source in own if Path(source).name not in head}


def test_only_nginx_is_reached_from_outside():
    """Pages are served on loopback, which nginx shares; Prefect's server is published to this host alone."""
    services = yaml.safe_load((CONTAINER / "compose.yaml").read_text())["services"]
    assert ["serve"] == services["serve"]["command"]
    assert "service:serve" == services["nginx"]["network_mode"]
    ports = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert {"serve": ["443:443"], "prefect": ["127.0.0.1:4200:4200"]} == ports
