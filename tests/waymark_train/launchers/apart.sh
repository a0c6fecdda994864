#!/usr/bin/env bash
# Runs a command as if on a machine of its own: its host name resolves, only the loopback interface is there, so that
# fixed ports meet nobody's and nothing is reached from outside, and when this ends, or is killed, all that it has
# started has ended too.
#
#   apart.sh FOLDER HOST... -- command      FOLDER: an empty one; HOST: names that are this machine, the first its own
#
# Exits 77 where the system does not let namespaces be made; otherwise as the command.
set -euo pipefail
if [ "${1:-}" != --inside ]; then
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(--map-root-user)
  own=(unshare "${as_root[@]}" --mount --uts --net --pid --fork --kill-child=KILL --mount-proc)
  "${own[@]}" true 2>/dev/null || exit 77
  exec "${own[@]}" bash "$0" --inside "$@"
fi
shift
folder=$1; shift
hosts=()
while [ "$1" != -- ]; do hosts+=("$1"); shift; done
shift
echo "127.0.0.1 localhost ${hosts[*]}" >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
hostname "${hosts[0]}"
# iproute2 is not on every machine. With 127.0.0.1 alone getaddrinfo knows no address of AI_ADDRCONFIG, which Slurm asks for.
python3 - <<'PYTHON'
import fcntl, socket, struct
SET_FLAGS, SET_ADDRESS, UP = 0x8914, 0x8916, 0x1 | 0x8 | 0x40  # of sys/ioctl.h; IFF_UP | IFF_LOOPBACK | IFF_RUNNING
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
second = struct.pack("H2x4s8x", socket.AF_INET, socket.inet_aton("127.0.0.2"))
fcntl.ioctl(control, SET_ADDRESS, struct.pack("16s16s", b"lo:1", second))
PYTHON
"$@"
