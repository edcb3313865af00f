"""Programs that more than one trigger advises, each written once; a trigger's own stand in its file.

They are for people to take over and change: `rank`, `size`, `count` and `values` are the program's own.
"""

from typing import Final

from iomine.triggers.model import Snippet

_READ: Final = "Each rank reads its part of a shared file in one collective call"
_WRITE: Final = "Each rank writes its part of a shared file in one collective call"
_BROADCAST: Final = "One rank reads what all need and sends it to the others"

COLLECTIVE_READ_C: Final = Snippet(
    "c",
    _READ,
    """\
MPI_File file;
MPI_Offset start = (MPI_Offset)rank * count * sizeof(double);

MPI_File_open(MPI_COMM_WORLD, "input.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
MPI_File_read_at_all(file, start, values, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
MPI_File_close(&file);
""",
)

COLLECTIVE_READ_PYTHON: Final = Snippet(
    "python",
    _READ,
    """\
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
values = np.empty(1_000_000)
file = MPI.File.Open(comm, "input.dat", MPI.MODE_RDONLY)
file.Read_at_all(comm.rank * values.nbytes, values)
file.Close()
""",
)

COLLECTIVE_WRITE_C: Final = Snippet(
    "c",
    _WRITE,
    """\
MPI_File file;
MPI_Offset start = (MPI_Offset)rank * count * sizeof(double);

MPI_File_open(MPI_COMM_WORLD, "output.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
MPI_File_write_at_all(file, start, values, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
MPI_File_close(&file);
""",
)

COLLECTIVE_WRITE_FORTRAN: Final = Snippet(
    "fortran",
    _WRITE,
    """\
integer :: file, ierr
integer(kind=MPI_OFFSET_KIND) :: start

start = int(rank, MPI_OFFSET_KIND) * count * 8
call MPI_File_open(MPI_COMM_WORLD, 'output.dat', &
                   ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, ierr)
call MPI_File_write_at_all(file, start, values, count, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
call MPI_File_close(file, ierr)
""",
)

COLLECTIVE_WRITE_PYTHON: Final = Snippet(
    "python",
    _WRITE,
    """\
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
values = np.full(1_000_000, comm.rank, dtype=float)
file = MPI.File.Open(comm, "output.dat", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(comm.rank * values.nbytes, values)
file.Close()
""",
)

HDF5_READ_PYTHON: Final = Snippet(
    "python",
    "A collective read with HDF5 (h5py built with MPI)",
    """\
import h5py
from mpi4py import MPI

comm = MPI.COMM_WORLD
with h5py.File("input.h5", "r", driver="mpio", comm=comm) as file:
    dataset = file["values"]
    part = len(dataset) // comm.size
    with dataset.collective:
        values = dataset[comm.rank * part : (comm.rank + 1) * part]
""",
)

HDF5_WRITE_PYTHON: Final = Snippet(
    "python",
    "A collective write with HDF5 (h5py built with MPI)",
    """\
import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
values = np.full(1_000_000, comm.rank, dtype=float)
with h5py.File("output.h5", "w", driver="mpio", comm=comm) as file:
    dataset = file.create_dataset("values", (comm.size * len(values),), dtype="f8")
    with dataset.collective:
        dataset[comm.rank * len(values) : (comm.rank + 1) * len(values)] = values
""",
)

HDF5_TRANSFER_C: Final = Snippet(
    "c",
    "Collective transfers in HDF5",
    """\
hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, transfer, values);
H5Pclose(transfer);
""",
)

HDF5_METADATA_C: Final = Snippet(
    "c",
    "One rank fetches HDF5's metadata for all",
    """\
hid_t access = H5Pcreate(H5P_FILE_ACCESS);
H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
H5Pset_all_coll_metadata_ops(access, 1);
H5Pset_coll_metadata_write(access, 1);
hid_t file = H5Fopen("data.h5", H5F_ACC_RDWR, access);
""",
)

HDF5_ALIGNMENT_C: Final = Snippet(
    "c",
    "HDF5 puts objects of 1 MiB or more at multiples of 1 MiB",
    """\
hid_t access = H5Pcreate(H5P_FILE_ACCESS);
H5Pset_alignment(access, 1048576, 1048576);
hid_t file = H5Fcreate("output.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
""",
)

FILE_VIEW_C: Final = Snippet(
    "c",
    "A file view gives MPI-IO all of a rank's pieces at once: here its columns of a matrix",
    """\
MPI_Datatype piece;
int whole[2] = {rows, columns}, part[2] = {rows, columns / size}, start[2] = {0, rank * (columns / size)};

MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &piece);
MPI_Type_commit(&piece);
MPI_File_set_view(file, 0, MPI_DOUBLE, piece, "native", MPI_INFO_NULL);
MPI_File_read_all(file, values, part[0] * part[1], MPI_DOUBLE, MPI_STATUS_IGNORE);
MPI_Type_free(&piece);
""",
)

BROADCAST_PYTHON: Final = Snippet(
    "python",
    _BROADCAST,
    """\
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
text = Path("settings.toml").read_text() if comm.rank == 0 else None
text = comm.bcast(text, root=0)
""",
)

BROADCAST_C: Final = Snippet(
    "c",
    _BROADCAST,
    """\
if (rank == 0) {
    FILE *file = fopen("table.dat", "rb");
    if (file == NULL || fread(values, sizeof(double), count, file) != (size_t)count)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(file);
}
MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
""",
)

KEEP_OPEN_PYTHON: Final = Snippet(
    "python",
    "A file is opened once for all steps, not once for each",
    """\
with open("series.dat", "ab", buffering=8 * 1024 * 1024) as file:
    for step in range(steps):
        file.write(advance(step).tobytes())
""",
)

PACK_PYTHON: Final = Snippet(
    "python",
    "Many small arrays become datasets of one HDF5 file",
    """\
from pathlib import Path

import h5py
import numpy as np

with h5py.File("samples.h5", "w") as file:
    for path in sorted(Path("samples").glob("*.npy")):
        file[path.stem] = np.load(path)
""",
)

STRIPE_SHELL: Final = Snippet(
    "shell",
    "Wider striping: for files to come in a directory, and for one that is there already",
    """\
lfs getstripe -c -S big.h5
lfs setstripe -c 16 -S 4M results/
lfs migrate -c 16 -S 4M big.h5
""",
    places=(("big.h5", "file"), ("results/", "folder")),
)

STRIPE_HINTS_C: Final = Snippet(
    "c",
    "Striping as a hint of MPI-IO, which counts when the file is created",
    """\
MPI_Info info;
MPI_File file;

MPI_Info_create(&info);
MPI_Info_set(info, "striping_factor", "16");
MPI_Info_set(info, "striping_unit", "4194304");
MPI_File_open(MPI_COMM_WORLD, "output.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
MPI_Info_free(&info);
""",
)

TRACE_SHELL: Final = Snippet(
    "shell",
    "Run once more with a trace, which shows when and by whom each request was made",
    """\
export DXT_ENABLE_IO_TRACE=1
srun ./program
""",
)
