"""The manifests for Kubernetes: they are as its schemas want them, and nothing in them has more rights than it needs."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

KUBERNETES = Path(__file__).parents[3] / "deploy" / "kubernetes"
ITEMS = [(path.name, item) for path in sorted(KUBERNETES.glob("*.yaml")) for item in yaml.safe_load(path.read_text())["items"]]


def pods() -> list[dict[str, Any]]:
    """What each kind of pod is to be."""
    of_jobs = [item["spec"]["jobTemplate"]["spec"]["template"]["spec"] for _, item in ITEMS if item["kind"] == "CronJob"]
    return of_jobs + [item["spec"]["template"]["spec"] for _, item in ITEMS if item["kind"] == "Deployment"]


@pytest.mark.parametrize("version", ["1.30", "1.34"])
def test_manifests_are_as_schemas_want_them(version: str) -> None:
    """Each thing is of a kind that this version has, with all that it needs and nothing that it does not know."""
    assert len(ITEMS) == 8
    for _, item in ITEMS:
        kubernetes_validate.validate(item, version, strict=True)


def test_pods_have_no_rights() -> None:
    """None runs as root, writes to its root, has a capability or an account of the cluster."""
    assert len(pods()) == 4
    for pod in pods():
        assert pod["automountServiceAccountToken"] is False
        context = pod["securityContext"]
        assert (True, 10001, {"type": "RuntimeDefault"}) == (
            context["runAsNonRoot"],
            context["runAsUser"],
            context["seccompProfile"],
        )
        for container in pod["containers"]:
            rights = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            assert rights == container["securityContext"]
            assert {"requests", "limits"} == container["resources"].keys()


def test_what_pods_mount_is_there() -> None:
    """A mount is one of the pod's volumes; a secret, map or claim is made here, or the docs say who makes it."""
    said = (KUBERNETES.parents[1] / "docs" / "cluster.md").read_text()
    made = {item["metadata"]["name"] for _, item in ITEMS}
    for pod in pods():
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert volumes.keys() == {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        for volume in volumes.values():
            names = {"persistentVolumeClaim": "claimName", "configMap": "name", "secret": "secretName"}
            for kind, key in names.items():
                if kind in volume:
                    assert volume[kind][key] in made or f"`{volume[kind][key]}`" in said


def test_ports_lead_to_pods() -> None:
    """Each service has pods, and a port of theirs; what `iomine.toml` names as the scheduler is one of them."""
    deployments = [item for _, item in ITEMS if item["kind"] == "Deployment"]
    for _, service in ITEMS:
        if service["kind"] != "Service":
            continue
        (pod,) = [
            each["spec"]["template"]["spec"]
            for each in deployments
            if each["spec"]["template"]["metadata"]["labels"] == service["spec"]["selector"]
        ]
        ports = {port["name"] for container in pod["containers"] for port in container.get("ports", ())}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    assert 'scheduler = "tls://iomine-scheduler:8786"' in (KUBERNETES / "workers.yaml").read_text()
