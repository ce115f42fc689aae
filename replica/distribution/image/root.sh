#!/bin/sh
# Makes the root directory of the image: this machine's Java runtime, the libraries that it loads, the commands that
# bin/tollgate and the hooks of Kubernetes call, and the unpacked distribution. No distribution of Linux, no registry.
#
#   image/root.sh ROOT HOME
set -eu

root=$1
home=$2
commands='sh dirname readlink sleep mv rm'
jdk=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
# what the program's own classes and all that they use need, and what is found only while it runs
needed=$("$jdk/bin/jdeps" --ignore-missing-deps --multi-release 17 --print-module-deps --class-path "$home/lib/*" \
  "$home"/lib/tollgate-*.jar)
modules=java.se,$needed,jdk.crypto.ec,jdk.unsupported,jdk.zipfs

rm -rf "$root"
mkdir -p "$root/tmp" "$root/etc" "$root/bin" "$root/opt" "$root/var/lib/tollgate"
"$jdk/bin/jlink" --add-modules $modules --strip-debug --no-header-files --no-man-pages --output "$root/jre"
# links between the texts of licenses: the image has files
cp -RL "$root/jre/legal" "$root/legal"
rm -rf "$root/jre/legal"
mv "$root/legal" "$root/jre/legal"
for command in $commands; do
  cp -L "$(command -v "$command")" "$root/bin/$command"
done
ldd "$root"/bin/* "$root"/jre/bin/java "$root"/jre/lib/*.so "$root"/jre/lib/server/libjvm.so |
  sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p' |
  grep -v "^$root/" | sort -u |
  while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
echo 'tollgate:x:7400:7400:Tollgate:/var/lib/tollgate:/bin/sh' > "$root/etc/passwd"
echo 'tollgate:x:7400:' > "$root/etc/group"
cp -R "$home" "$root/opt/tollgate"
# Jib gives all files this time, and a runtime ignores an archive of classes whose files are of another time
find "$root/jre" -exec touch -h -d @1 {} +
"$root/jre/bin/java" -Xshare:dump > /dev/null 2>&1 || true
