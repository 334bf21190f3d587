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
; base view: host-view
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
(deny file-write* (subpath "/bin"))
(deny file-write* (subpath "/dev"))
(deny file-write* (subpath "/Library"))
(deny file-write* (subpath "/opt/homebrew"))
(deny file-write* (subpath "/private/etc"))
(deny file-write* (subpath "/private/var/db"))
(deny file-write* (subpath "/private/var/select"))
(deny file-write* (subpath "/sbin"))
(deny file-write* (subpath "/System"))
(deny file-write* (subpath "/usr"))
(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
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
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_0"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_1"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_2"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_3"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_4"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_5"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_6"))))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_0")))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_1")))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_2")))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_4")))
--- definitions
READABLE_ROOT_0=/
READABLE_ROOT_1=/private/tmp/loom-exec-scratch-0123
READABLE_ROOT_2=/private/var/folders/zz/C
READABLE_ROOT_3=/private/var/folders/zz/T
READABLE_ROOT_4=/usr/local/libexec/loom-exec/seatbelt-stage2
WRITABLE_ROOT_0=/
WRITABLE_ROOT_1=/private/tmp/loom-exec-scratch-0123
WRITABLE_ROOT_2=/private/var/folders/zz/C
WRITABLE_ROOT_3=/private/var/folders/zz/T
ANCESTOR_0=/
ANCESTOR_1=/System
ANCESTOR_2=/System/Volumes
ANCESTOR_3=/System/Volumes/Preboot
ANCESTOR_4=/opt
ANCESTOR_5=/private
ANCESTOR_6=/private/tmp
ANCESTOR_7=/private/var
ANCESTOR_8=/private/var/folders
ANCESTOR_9=/private/var/folders/zz
ANCESTOR_10=/usr
ANCESTOR_11=/usr/local
ANCESTOR_12=/usr/local/libexec
ANCESTOR_13=/usr/local/libexec/loom-exec
ANCESTOR_14=/var
ANCESTOR_15=/var/folders
ANCESTOR_16=/var/folders/zz
PROTECTED_ANCESTOR_0=/
PROTECTED_ANCESTOR_1=/opt
PROTECTED_ANCESTOR_2=/private
PROTECTED_ANCESTOR_3=/private/tmp/loom-exec-scratch-0123
PROTECTED_ANCESTOR_4=/private/var
PROTECTED_ANCESTOR_5=/private/var/folders/zz/C
PROTECTED_ANCESTOR_6=/private/var/folders/zz/T
--- view
writable /
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
readable /System
readable /System/Volumes/Preboot/Cryptexes
readable /usr
readable /usr/local/libexec/loom-exec/seatbelt-stage2
--- start
-p
/
--- when witnessed
seatbelt
seatbelt-fs:rw=4,mask=0,bind_ro=0,bind_rw=0,scratch=private-dir,base=host-view,plan=123e94e45e919a9b
seatbelt-net
--- extras
unheld:unix-path
