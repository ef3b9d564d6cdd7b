"""What ci/package.sh looks at: `names METADATA` prints the crates that are published, in the order in which they need each
other; `check METADATA FOLDER DENY` holds their metadata, the lists of their files (FOLDER/NAME.list) and all dependencies
to the rules.
"""

import json
import os
import re
import sys
import tomllib

FIELDS = ["description", "license", "repository", "readme", "rust_version", "keywords", "categories"]
INCLUDED = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"')


def main():
    with open(sys.argv[2]) as file:
        metadata = json.load(file)
    members = {package["id"]: package for package in metadata["packages"] if package["id"] in metadata["workspace_members"]}
    published = order([package for package in members.values() if package["publish"] != []])
    if sys.argv[1] == "names":
        print("\n".join(package["name"] for package in published))
        return
    faults = []
    for package in published:
        with open(os.path.join(sys.argv[3], package["name"] + ".list")) as file:
            faults += look(package, set(file.read().split()))
    with open(sys.argv[4], "rb") as file:
        faults += allowed(metadata, tomllib.load(file))
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(published)} crates can be published: {', '.join(package['name'] for package in published)}")


def order(packages):
    """Every crate after those that it needs."""
    names, done = {package["name"]: package for package in packages}, []

    def visit(package):
        if package in done:
            return
        for other in package["dependencies"]:
            if other["kind"] != "dev" and other["name"] in names:
                visit(names[other["name"]])
        done.append(package)

    for package in sorted(packages, key=lambda package: package["name"]):
        visit(package)
    return done


def look(package, packed):
    name, folder = package["name"], os.path.dirname(package["manifest_path"])
    faults = [f"{name}: no {field}" for field in FIELDS if not package[field]]
    if len(package["keywords"]) > 5 or len(package["categories"]) > 5:
        faults.append(f"{name}: more than five keywords or categories")
    if "README.md" not in packed:
        faults.append(f"{name}: README.md is not packed")
    for other in package["dependencies"]:
        if other.get("path") and other["req"] == "*" and other["kind"] != "dev":
            faults.append(f"{name}: {other['name']} has a path and no version")
    for path in sorted(file for file in packed if file.endswith(".rs")):
        whole = os.path.join(folder, path)
        if not os.path.exists(whole):
            continue
        with open(whole) as file:
            text = file.read()
        for included in INCLUDED.findall(text):
            wanted = os.path.normpath(os.path.join(os.path.dirname(path), included))
            if wanted not in packed:
                faults.append(f"{name}: {path} includes {included}, which is not packed")
    return faults


def allowed(metadata, deny):
    """Licences as SPDX expressions, old spellings among them; sources."""
    allow, faults = set(deny["licenses"]["allow"]), []

    def holds(text):
        text = text.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
        words = re.sub(r"(\S+) WITH \S+", r"\1", text).split()
        known = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
        return eval(" ".join(known.get(word) or str(word in allow) for word in words), {})

    reached = {node["id"] for node in metadata["resolve"]["nodes"]}
    for package in metadata["packages"]:
        if package["id"] not in reached or package["source"] is None:
            continue
        if not package["license"] or not holds(package["license"]):
            faults.append(f"{package['name']}: the licence {package['license']} is not in deny.toml")
        if not package["source"].startswith("registry+"):
            faults.append(f"{package['name']}: it does not come from a registry but {package['source']}")
    return faults


main()
