# Shared by quickstart.sh and test.sh: installs what is missing and builds a release.
# Sourced with the working directory at the repository root.

packages_in() { grep -v '^#' "$1"; }

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      echo "$package"
  done
}

# install_packages NAME...: asks apt-get for those that are not installed yet.
install_packages() {
  local missing sudo=""
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -eq 0 ] && return
  if ! command -v apt-get >/dev/null; then
    echo "lfiw: these packages are missing and this is not Debian: ${missing[*]}" >&2
    exit 1
  fi
  [ "$(id -u)" -eq 0 ] || sudo="sudo"
  echo "== installing ${#missing[@]} Debian packages: ${missing[*]}"
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build TARGET...: configures once and builds the release preset.
build() {
  echo "== building (build/release)"
  [ -f build/release/build.ninja ] || cmake --preset release >/dev/null
  cmake --build --preset release --target "$@"
}
