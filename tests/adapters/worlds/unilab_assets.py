"""Makes the assets that UniLab's wheel leaves out, so that its robots load without a hub.

    python unilab_assets.py FOLDER

Every mesh of these robots is only seen: inertias are written out and what collides are primitives, so that a
small tetrahedron in place of each mesh gives the same physics. The clip that motion tracking follows is a
synthetic one.
"""

from __future__ import annotations

import re
import shutil
import struct
import sys
from pathlib import Path

from unilab_motion import make_motion

CORNERS = ((0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
MARKERS = ("robots/g1/assets/head_link.STL", "robots/go2/assets/base_0.obj", "robots/g1/textures/floor.png")
"""Files by whose presence UniLab decides that nothing has to be fetched."""
CLIP = "motions/g1/dance1_subject2_part.npz"
"""The clip that the published configurations of G1 motion tracking name."""
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


def tetrahedron(suffix: str) -> bytes:
    """Return a mesh, or for textures one black pixel."""
    if suffix.lower() == ".png":
        return PIXEL
    if suffix.lower() == ".obj":
        corners = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
        return (corners + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)).encode()
    triangles = (
        struct.pack("<12fH", 0, 0, 0, *(number for corner in face for number in CORNERS[corner]), 0)
        for face in FACES
    )
    return b"\0" * 80 + struct.pack("<I", len(FACES)) + b"".join(triangles)


def make_assets(package: Path, folder: Path) -> None:
    """Copy what the package has into ``folder``, and add what its models name."""
    shutil.copytree(package / "assets", folder, dirs_exist_ok=True)
    wanted = [folder / marker for marker in MARKERS]
    for model in folder.glob("robots/*/*.xml"):
        text = model.read_text()
        found = re.search(r'meshdir="([^"]*)"', text)
        meshes = model.parent / (found[1] if found else ".")
        wanted += [meshes / name for name in re.findall(r'<mesh[^>]*file="([^"]+)"', text)]
    for path in wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(tetrahedron(path.suffix))
    make_motion(folder / "robots" / "g1" / "scene_flat.xml", folder / CLIP)


if __name__ == "__main__":
    import unilab

    assert unilab.__file__ is not None
    make_assets(Path(unilab.__file__).parent, Path(sys.argv[1]))
