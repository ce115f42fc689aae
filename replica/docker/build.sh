#!/usr/bin/env bash
# Builds the image of a node from this source tree. No registry has the image yet.
#
#   replica/docker/build.sh [IMAGE]
#
# IMAGE is tollgate:0.1.0-SNAPSHOT if it is not given. TOLLGATE_BASE_IMAGE names an image with a Java
# runtime of version 17 or newer and a shell, best by its digest; without it, eclipse-temurin:17-jre. The image is
# built on the digest that the name has now, and has it in a label.
set -euo pipefail

image=${1:-tollgate:0.1.0-SNAPSHOT}
replica=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

if [ ! -d "$replica/target/lib" ]; then
  echo "Building Tollgate once; this takes a minute or two ..." >&2
  (cd "$replica/.." && mvn -B -q -Dstyle.color=never -P run package -pl replica -am)
fi

context=$replica/target/docker
rm -rf "$context"
mkdir -p "$context/tollgate/lib" "$context/data"
cp -R "$replica/bin" "$replica/conf" "$context/tollgate"
cp "$replica"/target/lib/*.jar "$context/tollgate/lib"
for jar in "$replica"/target/tollgate-replica-*.jar; do
  case $jar in
    *-tests.jar | *-sources.jar | *-javadoc.jar) ;;
    *) cp "$jar" "$context/tollgate/lib" ;;
  esac
done
base=${TOLLGATE_BASE_IMAGE:-eclipse-temurin:17-jre}
docker image inspect "$base" > /dev/null 2>&1 || docker pull --quiet "$base" > /dev/null
# an image that no registry has, has no digest
digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$base" | head -n 1)
docker build --quiet --build-arg "BASE=${digest:-$base}" --label "org.opencontainers.image.base.name=$base" \
  --label "org.opencontainers.image.base.digest=${digest#*@}" \
  --tag "$image" --file "$replica/docker/Dockerfile" "$context" > /dev/null
echo "$image"
