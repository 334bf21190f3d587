(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read* (literal "/"))
(allow file-read-metadata (literal "/etc"))
(allow file-read-metadata (literal "/tmp"))
(allow file-read-metadata (literal "/var"))
(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow sysctl-read)
(allow sysctl-write (sysctl-name "kern.grade_cputype"))
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow ipc-posix-sem)
(allow mach-lookup (global-name "com.apple.PowerManagement.control"))
(allow mach-lookup (global-name "com.apple.bsd.dirhelper"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.membership"))
(allow system-socket (socket-domain AF_UNIX))
(allow network-bind (local unix-socket))
(allow network-outbound (remote unix-socket))
; base view: minimal
(allow file-read* (subpath "/System"))
(deny file-read* (subpath "/System/Volumes"))
(allow file-read* (subpath "/System/Volumes/Preboot/Cryptexes"))
(allow file-read* (subpath "/usr"))
(allow file-read* (subpath "/bin"))
(allow file-read* (subpath "/sbin"))
(allow file-read* (subpath "/Library"))
(allow file-read* (subpath "/private/etc"))
(allow file-read* (subpath "/private/var/db"))
(allow file-read* (subpath "/private/var/select"))
(allow file-read* (subpath "/dev"))
(allow file-read* (subpath "/opt/homebrew"))
(allow file-read* (subpath (param "READABLE_ROOT_0")))
(allow file-read* (subpath (param "READABLE_ROOT_1")))
(allow file-read* (subpath (param "READABLE_ROOT_2")))
(allow file-read* (subpath (param "READABLE_ROOT_3")))
(allow file-read* (subpath (param "READABLE_ROOT_4")))
(allow file-write* (subpath (param "WRITABLE_ROOT_0")))
(allow file-write* (subpath (param "WRITABLE_ROOT_1")))
(allow file-write* (subpath (param "WRITABLE_ROOT_2")))
(allow file-write* (subpath (param "WRITABLE_ROOT_3")))
(allow file-read-metadata (literal (param "ANCESTOR_0")))
(allow file-read-metadata (literal (param "ANCESTOR_1")))
(allow file-read-metadata (literal (param "ANCESTOR_2")))
(allow file-read-metadata (literal (param "ANCESTOR_3")))
(allow file-read-metadata (literal (param "ANCESTOR_4")))
(allow file-read-metadata (literal (param "ANCESTOR_5")))
(allow file-read-metadata (literal (param "ANCESTOR_6")))
(allow file-read-metadata (literal (param "ANCESTOR_7")))
(allow file-read-metadata (literal (param "ANCESTOR_8")))
(allow file-read-metadata (literal (param "ANCESTOR_9")))
(allow file-read-metadata (literal (param "ANCESTOR_10")))
(allow file-read-metadata (literal (param "ANCESTOR_11")))
(allow file-read-metadata (literal (param "ANCESTOR_12")))
(allow file-read-metadata (literal (param "ANCESTOR_13")))
(allow file-read-metadata (literal (param "ANCESTOR_14")))
(allow file-read-metadata (literal (param "ANCESTOR_15")))
(allow file-read-metadata (literal (param "ANCESTOR_16")))
(allow file-read-metadata (literal (param "ANCESTOR_17")))
(allow file-read-metadata (literal (param "ANCESTOR_18")))
(allow file-read* (subpath (param "EXEC_ALLOWED_0")))
(deny file-read* (literal (param "PROTECTED_PATH_0")))
(deny file-read* (subpath (param "PROTECTED_PATH_0")))
(deny file-write* (literal (param "PROTECTED_PATH_0")))
(deny file-write* (subpath (param "PROTECTED_PATH_0")))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_0"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_1"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_2"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_3"))))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_0")))
--- definitions
READABLE_ROOT_0=/Users/me/work
READABLE_ROOT_1=/private/tmp/loom-exec-scratch-0123
READABLE_ROOT_2=/private/var/folders/zz/C
READABLE_ROOT_3=/private/var/folders/zz/T
READABLE_ROOT_4=/usr/local/libexec/loom-exec/seatbelt-stage2
WRITABLE_ROOT_0=/Users/me/work
WRITABLE_ROOT_1=/private/tmp/loom-exec-scratch-0123
WRITABLE_ROOT_2=/private/var/folders/zz/C
WRITABLE_ROOT_3=/private/var/folders/zz/T
ANCESTOR_0=/
ANCESTOR_1=/System
ANCESTOR_2=/System/Volumes
ANCESTOR_3=/System/Volumes/Preboot
ANCESTOR_4=/Users
ANCESTOR_5=/Users/me
ANCESTOR_6=/opt
ANCESTOR_7=/private
ANCESTOR_8=/private/tmp
ANCESTOR_9=/private/var
ANCESTOR_10=/private/var/folders
ANCESTOR_11=/private/var/folders/zz
ANCESTOR_12=/usr
ANCESTOR_13=/usr/local
ANCESTOR_14=/usr/local/libexec
ANCESTOR_15=/usr/local/libexec/loom-exec
ANCESTOR_16=/var
ANCESTOR_17=/var/folders
ANCESTOR_18=/var/folders/zz
EXEC_ALLOWED_0=/x
PROTECTED_PATH_0=/Users/me/work/.git
PROTECTED_ANCESTOR_0=/Users/me/work
PROTECTED_ANCESTOR_1=/private/tmp/loom-exec-scratch-0123
PROTECTED_ANCESTOR_2=/private/var/folders/zz/C
PROTECTED_ANCESTOR_3=/private/var/folders/zz/T
--- view
root tmpfs /
readable /System
root tmpfs /System/Volumes
exec shown /x
readable /bin
readable /dev
readable /Library
readable /opt/homebrew
readable /private/etc
writable /private/tmp/loom-exec-scratch-0123
readable /private/var/db
writable /private/var/folders/zz/C
writable /private/var/folders/zz/T
readable /private/var/select
readable /sbin
readable /System/Volumes/Preboot/Cryptexes
writable /Users/me/work
readable /usr
readable /usr/local/libexec/loom-exec/seatbelt-stage2
protected /Users/me/work/.git
--- start
-p
/Users/me/work
--- when witnessed
seatbelt
seatbelt-fs:rw=4,mask=1,bind_ro=0,bind_rw=0,scratch=private-dir,base=minimal,plan=ca10b8235ca1695d
seatbelt-net
--- extras
unheld:unix-path
