#!/bin/busybox sh
# First process of a guest. It makes the host's file system the root, read-only, with writable places
# of its own, then runs what the host left in the job folder and powers the machine off.
# Its own messages go to the serial console, the command's output to files in the job folder.
busybox=/bin/busybox
console=/dev/console

fail() {
    echo "init: $1" >$console
    $busybox poweroff -f
}

mount_host() { # tag, folder, options
    $busybox mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2" || fail "cannot mount $1"
}

mount_tmpfs() { # folder
    $busybox mount -t tmpfs -o mode=1777 none "$1" || fail "cannot mount a tmpfs on $1"
}

$busybox mount -t devtmpfs none /dev
$busybox mount -t proc none /proc
$busybox mount -t sysfs none /sys
while read -r module; do
    $busybox insmod "/modules/$module.ko" || fail "cannot load $module"
done </modules/order

mount_host tree /host ro,cache=loose
for folder in /tmp /run /var/tmp; do mount_tmpfs /host$folder; done
$busybox mkdir /host/run/job
mount_host job /host/run/job cache=none

# A checkout under /tmp has just been hidden by the guest's own /tmp.
read -r repository </host/run/job/repository
if [ ! -d "/host$repository" ]; then
    $busybox mkdir -p "/host$repository"
    mount_host repository "/host$repository" ro,cache=loose
fi

$busybox mount -t cgroup2 none /sys/fs/cgroup
for folder in dev proc sys; do $busybox mount --move /$folder /host/$folder; done
console=/host/dev/console
$busybox mkdir -p /host/dev/shm /host/dev/pts
mount_tmpfs /host/dev/shm
$busybox mount -t devpts none /host/dev/pts
$busybox ln -s /proc/self/fd /host/dev/fd
$busybox ifconfig lo 127.0.0.1 up
$busybox hostname guest

cd /host/run/job || fail "the job folder is gone"
: >booted
$busybox chroot /host /bin/sh /run/job/command.sh </host/dev/null >output 2>&1
echo $? >status.new
$busybox mv status.new status
$busybox sync
cd /
$busybox poweroff -f
