"""Keys and certificates with which the processes of one sweep know each other."""

from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from distributed import Security

# A key lives as long as its sweep. Dates would only end sweeps whose clock is set back or ahead, or whose hosts' clocks differ.
_SINCE: Final = datetime(1970, 1, 1)  # noqa: DTZ001  a certificate's dates are in UTC
_UNTIL: Final = datetime(9999, 12, 31)  # noqa: DTZ001


def certified() -> Security:
    """A key of its own and a certificate of it for all processes of a sweep, whatever their clocks say."""
    made = Security.temporary()
    key = load_pem_private_key(made.tls_client_key.encode(), None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError(f"The key is a {type(key).__name__}.")
    dated = x509.load_pem_x509_certificate(made.tls_ca_file.encode())
    # Of Dask's own certificate all stays but the dates: from now on, for a year.
    builder = x509.CertificateBuilder(
        dated.issuer, dated.subject, key.public_key(), dated.serial_number, _SINCE, _UNTIL, list(dated.extensions)
    )
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()
    made.tls_ca_file = made.tls_client_cert = made.tls_scheduler_cert = made.tls_worker_cert = certificate
    return made
