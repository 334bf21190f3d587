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
(deny file-read* (literal (param "PROTECTED_PATH_0")))
(deny file-read* (subpath (param "PROTECTED_PATH_0")))
(deny file-write* (literal (param "PROTECTED_PATH_0")))
(deny file-write* (subpath (param "PROTECTED_PATH_0")))
(deny file-read* (literal (param "PROTECTED_PATH_1")))
(deny file-read* (subpath (param "PROTECTED_PATH_1")))
(deny file-write* (literal (param "PROTECTED_PATH_1")))
(deny file-write* (subpath (param "PROTECTED_PATH_1")))
(deny file-read* (literal (param "PROTECTED_PATH_2")))
(deny file-read* (subpath (param "PROTECTED_PATH_2")))
(deny file-write* (literal (param "PROTECTED_PATH_2")))
(deny file-write* (subpath (param "PROTECTED_PATH_2")))
(deny file-read* (literal (param "PROTECTED_PATH_3")))
(deny file-read* (subpath (param "PROTECTED_PATH_3")))
(deny file-write* (literal (param "PROTECTED_PATH_3")))
(deny file-write* (subpath (param "PROTECTED_PATH_3")))
(deny file-read* (literal (param "PROTECTED_PATH_4")))
(deny file-read* (subpath (param "PROTECTED_PATH_4")))
(deny file-write* (literal (param "PROTECTED_PATH_4")))
(deny file-write* (subpath (param "PROTECTED_PATH_4")))
(deny file-read* (literal (param "PROTECTED_PATH_5")))
(deny file-read* (subpath (param "PROTECTED_PATH_5")))
(deny file-write* (literal (param "PROTECTED_PATH_5")))
(deny file-write* (subpath (param "PROTECTED_PATH_5")))
(deny file-read* (literal (param "PROTECTED_PATH_6")))
(deny file-read* (subpath (param "PROTECTED_PATH_6")))
(deny file-write* (literal (param "PROTECTED_PATH_6")))
(deny file-write* (subpath (param "PROTECTED_PATH_6")))
(deny file-read* (literal (param "PROTECTED_PATH_7")))
(deny file-read* (subpath (param "PROTECTED_PATH_7")))
(deny file-write* (literal (param "PROTECTED_PATH_7")))
(deny file-write* (subpath (param "PROTECTED_PATH_7")))
(deny file-read* (literal (param "PROTECTED_PATH_8")))
(deny file-read* (subpath (param "PROTECTED_PATH_8")))
(deny file-write* (literal (param "PROTECTED_PATH_8")))
(deny file-write* (subpath (param "PROTECTED_PATH_8")))
(deny file-read* (literal (param "PROTECTED_PATH_9")))
(deny file-read* (subpath (param "PROTECTED_PATH_9")))
(deny file-write* (literal (param "PROTECTED_PATH_9")))
(deny file-write* (subpath (param "PROTECTED_PATH_9")))
(deny file-read* (literal (param "PROTECTED_PATH_10")))
(deny file-read* (subpath (param "PROTECTED_PATH_10")))
(deny file-write* (literal (param "PROTECTED_PATH_10")))
(deny file-write* (subpath (param "PROTECTED_PATH_10")))
(deny file-read* (literal (param "PROTECTED_PATH_11")))
(deny file-read* (subpath (param "PROTECTED_PATH_11")))
(deny file-write* (literal (param "PROTECTED_PATH_11")))
(deny file-write* (subpath (param "PROTECTED_PATH_11")))
(deny file-read* (literal (param "PROTECTED_PATH_12")))
(deny file-read* (subpath (param "PROTECTED_PATH_12")))
(deny file-write* (literal (param "PROTECTED_PATH_12")))
(deny file-write* (subpath (param "PROTECTED_PATH_12")))
(deny file-read* (literal (param "PROTECTED_PATH_13")))
(deny file-read* (subpath (param "PROTECTED_PATH_13")))
(deny file-write* (literal (param "PROTECTED_PATH_13")))
(deny file-write* (subpath (param "PROTECTED_PATH_13")))
(deny file-read* (literal (param "PROTECTED_PATH_14")))
(deny file-read* (subpath (param "PROTECTED_PATH_14")))
(deny file-write* (literal (param "PROTECTED_PATH_14")))
(deny file-write* (subpath (param "PROTECTED_PATH_14")))
(deny file-read* (literal (param "PROTECTED_PATH_15")))
(deny file-read* (subpath (param "PROTECTED_PATH_15")))
(deny file-write* (literal (param "PROTECTED_PATH_15")))
(deny file-write* (subpath (param "PROTECTED_PATH_15")))
(deny file-read* (literal (param "PROTECTED_PATH_16")))
(deny file-read* (subpath (param "PROTECTED_PATH_16")))
(deny file-write* (literal (param "PROTECTED_PATH_16")))
(deny file-write* (subpath (param "PROTECTED_PATH_16")))
(deny file-read* (literal (param "PROTECTED_PATH_17")))
(deny file-read* (subpath (param "PROTECTED_PATH_17")))
(deny file-write* (literal (param "PROTECTED_PATH_17")))
(deny file-write* (subpath (param "PROTECTED_PATH_17")))
(deny file-read* (literal (param "PROTECTED_PATH_18")))
(deny file-read* (subpath (param "PROTECTED_PATH_18")))
(deny file-write* (literal (param "PROTECTED_PATH_18")))
(deny file-write* (subpath (param "PROTECTED_PATH_18")))
(deny file-read* (literal (param "PROTECTED_PATH_19")))
(deny file-read* (subpath (param "PROTECTED_PATH_19")))
(deny file-write* (literal (param "PROTECTED_PATH_19")))
(deny file-write* (subpath (param "PROTECTED_PATH_19")))
(deny file-read* (literal (param "PROTECTED_PATH_20")))
(deny file-read* (subpath (param "PROTECTED_PATH_20")))
(deny file-write* (literal (param "PROTECTED_PATH_20")))
(deny file-write* (subpath (param "PROTECTED_PATH_20")))
(deny file-read* (literal (param "PROTECTED_PATH_21")))
(deny file-read* (subpath (param "PROTECTED_PATH_21")))
(deny file-write* (literal (param "PROTECTED_PATH_21")))
(deny file-write* (subpath (param "PROTECTED_PATH_21")))
(deny file-read* (literal (param "PROTECTED_PATH_22")))
(deny file-read* (subpath (param "PROTECTED_PATH_22")))
(deny file-write* (literal (param "PROTECTED_PATH_22")))
(deny file-write* (subpath (param "PROTECTED_PATH_22")))
(deny file-read* (literal (param "PROTECTED_PATH_23")))
(deny file-read* (subpath (param "PROTECTED_PATH_23")))
(deny file-write* (literal (param "PROTECTED_PATH_23")))
(deny file-write* (subpath (param "PROTECTED_PATH_23")))
(deny file-read* (literal (param "PROTECTED_PATH_24")))
(deny file-read* (subpath (param "PROTECTED_PATH_24")))
(deny file-write* (literal (param "PROTECTED_PATH_24")))
(deny file-write* (subpath (param "PROTECTED_PATH_24")))
(deny file-read* (literal (param "PROTECTED_PATH_25")))
(deny file-read* (subpath (param "PROTECTED_PATH_25")))
(deny file-write* (literal (param "PROTECTED_PATH_25")))
(deny file-write* (subpath (param "PROTECTED_PATH_25")))
(deny file-read* (literal (param "PROTECTED_PATH_26")))
(deny file-read* (subpath (param "PROTECTED_PATH_26")))
(deny file-write* (literal (param "PROTECTED_PATH_26")))
(deny file-write* (subpath (param "PROTECTED_PATH_26")))
(deny file-read* (literal (param "PROTECTED_PATH_27")))
(deny file-read* (subpath (param "PROTECTED_PATH_27")))
(deny file-write* (literal (param "PROTECTED_PATH_27")))
(deny file-write* (subpath (param "PROTECTED_PATH_27")))
(deny file-read* (literal (param "PROTECTED_PATH_28")))
(deny file-read* (subpath (param "PROTECTED_PATH_28")))
(deny file-write* (literal (param "PROTECTED_PATH_28")))
(deny file-write* (subpath (param "PROTECTED_PATH_28")))
(deny file-read* (literal (param "PROTECTED_PATH_29")))
(deny file-read* (subpath (param "PROTECTED_PATH_29")))
(deny file-write* (literal (param "PROTECTED_PATH_29")))
(deny file-write* (subpath (param "PROTECTED_PATH_29")))
(deny file-read* (literal (param "PROTECTED_PATH_30")))
(deny file-read* (subpath (param "PROTECTED_PATH_30")))
(deny file-write* (literal (param "PROTECTED_PATH_30")))
(deny file-write* (subpath (param "PROTECTED_PATH_30")))
(deny file-read* (literal (param "PROTECTED_PATH_31")))
(deny file-read* (subpath (param "PROTECTED_PATH_31")))
(deny file-write* (literal (param "PROTECTED_PATH_31")))
(deny file-write* (subpath (param "PROTECTED_PATH_31")))
(deny file-read* (literal (param "PROTECTED_PATH_32")))
(deny file-read* (subpath (param "PROTECTED_PATH_32")))
(deny file-write* (literal (param "PROTECTED_PATH_32")))
(deny file-write* (subpath (param "PROTECTED_PATH_32")))
(deny file-read* (literal (param "PROTECTED_PATH_33")))
(deny file-read* (subpath (param "PROTECTED_PATH_33")))
(deny file-write* (literal (param "PROTECTED_PATH_33")))
(deny file-write* (subpath (param "PROTECTED_PATH_33")))
(deny file-read* (literal (param "PROTECTED_PATH_34")))
(deny file-read* (subpath (param "PROTECTED_PATH_34")))
(deny file-write* (literal (param "PROTECTED_PATH_34")))
(deny file-write* (subpath (param "PROTECTED_PATH_34")))
(deny file-read* (literal (param "PROTECTED_PATH_35")))
(deny file-read* (subpath (param "PROTECTED_PATH_35")))
(deny file-write* (literal (param "PROTECTED_PATH_35")))
(deny file-write* (subpath (param "PROTECTED_PATH_35")))
(deny file-read* (literal (param "PROTECTED_PATH_36")))
(deny file-read* (subpath (param "PROTECTED_PATH_36")))
(deny file-write* (literal (param "PROTECTED_PATH_36")))
(deny file-write* (subpath (param "PROTECTED_PATH_36")))
(deny file-read* (literal (param "PROTECTED_PATH_37")))
(deny file-read* (subpath (param "PROTECTED_PATH_37")))
(deny file-write* (literal (param "PROTECTED_PATH_37")))
(deny file-write* (subpath (param "PROTECTED_PATH_37")))
(deny file-read* (literal (param "PROTECTED_PATH_38")))
(deny file-read* (subpath (param "PROTECTED_PATH_38")))
(deny file-write* (literal (param "PROTECTED_PATH_38")))
(deny file-write* (subpath (param "PROTECTED_PATH_38")))
(deny file-read* (literal (param "PROTECTED_PATH_39")))
(deny file-read* (subpath (param "PROTECTED_PATH_39")))
(deny file-write* (literal (param "PROTECTED_PATH_39")))
(deny file-write* (subpath (param "PROTECTED_PATH_39")))
(deny file-read* (literal (param "PROTECTED_PATH_40")))
(deny file-read* (subpath (param "PROTECTED_PATH_40")))
(deny file-write* (literal (param "PROTECTED_PATH_40")))
(deny file-write* (subpath (param "PROTECTED_PATH_40")))
(deny file-read* (literal (param "PROTECTED_PATH_41")))
(deny file-read* (subpath (param "PROTECTED_PATH_41")))
(deny file-write* (literal (param "PROTECTED_PATH_41")))
(deny file-write* (subpath (param "PROTECTED_PATH_41")))
(deny file-read* (literal (param "PROTECTED_PATH_42")))
(deny file-read* (subpath (param "PROTECTED_PATH_42")))
(deny file-write* (literal (param "PROTECTED_PATH_42")))
(deny file-write* (subpath (param "PROTECTED_PATH_42")))
(deny file-read* (literal (param "PROTECTED_PATH_43")))
(deny file-read* (subpath (param "PROTECTED_PATH_43")))
(deny file-write* (literal (param "PROTECTED_PATH_43")))
(deny file-write* (subpath (param "PROTECTED_PATH_43")))
(deny file-read* (literal (param "PROTECTED_PATH_44")))
(deny file-read* (subpath (param "PROTECTED_PATH_44")))
(deny file-write* (literal (param "PROTECTED_PATH_44")))
(deny file-write* (subpath (param "PROTECTED_PATH_44")))
(deny file-read* (literal (param "PROTECTED_PATH_45")))
(deny file-read* (subpath (param "PROTECTED_PATH_45")))
(deny file-write* (literal (param "PROTECTED_PATH_45")))
(deny file-write* (subpath (param "PROTECTED_PATH_45")))
(deny file-read* (literal (param "PROTECTED_PATH_46")))
(deny file-read* (subpath (param "PROTECTED_PATH_46")))
(deny file-write* (literal (param "PROTECTED_PATH_46")))
(deny file-write* (subpath (param "PROTECTED_PATH_46")))
(deny file-read* (literal (param "PROTECTED_PATH_47")))
(deny file-read* (subpath (param "PROTECTED_PATH_47")))
(deny file-write* (literal (param "PROTECTED_PATH_47")))
(deny file-write* (subpath (param "PROTECTED_PATH_47")))
(deny file-read* (literal (param "PROTECTED_PATH_48")))
(deny file-read* (subpath (param "PROTECTED_PATH_48")))
(deny file-write* (literal (param "PROTECTED_PATH_48")))
(deny file-write* (subpath (param "PROTECTED_PATH_48")))
(deny file-read* (literal (param "PROTECTED_PATH_49")))
(deny file-read* (subpath (param "PROTECTED_PATH_49")))
(deny file-write* (literal (param "PROTECTED_PATH_49")))
(deny file-write* (subpath (param "PROTECTED_PATH_49")))
(deny file-read* (literal (param "PROTECTED_PATH_50")))
(deny file-read* (subpath (param "PROTECTED_PATH_50")))
(deny file-write* (literal (param "PROTECTED_PATH_50")))
(deny file-write* (subpath (param "PROTECTED_PATH_50")))
(deny file-read* (literal (param "PROTECTED_PATH_51")))
(deny file-read* (subpath (param "PROTECTED_PATH_51")))
(deny file-write* (literal (param "PROTECTED_PATH_51")))
(deny file-write* (subpath (param "PROTECTED_PATH_51")))
(deny file-read* (literal (param "PROTECTED_PATH_52")))
(deny file-read* (subpath (param "PROTECTED_PATH_52")))
(deny file-write* (literal (param "PROTECTED_PATH_52")))
(deny file-write* (subpath (param "PROTECTED_PATH_52")))
(deny file-read* (literal (param "PROTECTED_PATH_53")))
(deny file-read* (subpath (param "PROTECTED_PATH_53")))
(deny file-write* (literal (param "PROTECTED_PATH_53")))
(deny file-write* (subpath (param "PROTECTED_PATH_53")))
(deny file-read* (literal (param "PROTECTED_PATH_54")))
(deny file-read* (subpath (param "PROTECTED_PATH_54")))
(deny file-write* (literal (param "PROTECTED_PATH_54")))
(deny file-write* (subpath (param "PROTECTED_PATH_54")))
(deny file-read* (literal (param "PROTECTED_PATH_55")))
(deny file-read* (subpath (param "PROTECTED_PATH_55")))
(deny file-write* (literal (param "PROTECTED_PATH_55")))
(deny file-write* (subpath (param "PROTECTED_PATH_55")))
(deny file-read* (literal (param "PROTECTED_PATH_56")))
(deny file-read* (subpath (param "PROTECTED_PATH_56")))
(deny file-write* (literal (param "PROTECTED_PATH_56")))
(deny file-write* (subpath (param "PROTECTED_PATH_56")))
(deny file-read* (literal (param "PROTECTED_PATH_57")))
(deny file-read* (subpath (param "PROTECTED_PATH_57")))
(deny file-write* (literal (param "PROTECTED_PATH_57")))
(deny file-write* (subpath (param "PROTECTED_PATH_57")))
(deny file-read* (literal (param "PROTECTED_PATH_58")))
(deny file-read* (subpath (param "PROTECTED_PATH_58")))
(deny file-write* (literal (param "PROTECTED_PATH_58")))
(deny file-write* (subpath (param "PROTECTED_PATH_58")))
(deny file-read* (literal (param "PROTECTED_PATH_59")))
(deny file-read* (subpath (param "PROTECTED_PATH_59")))
(deny file-write* (literal (param "PROTECTED_PATH_59")))
(deny file-write* (subpath (param "PROTECTED_PATH_59")))
(deny file-read* (literal (param "PROTECTED_PATH_60")))
(deny file-read* (subpath (param "PROTECTED_PATH_60")))
(deny file-write* (literal (param "PROTECTED_PATH_60")))
(deny file-write* (subpath (param "PROTECTED_PATH_60")))
(deny file-read* (literal (param "PROTECTED_PATH_61")))
(deny file-read* (subpath (param "PROTECTED_PATH_61")))
(deny file-write* (literal (param "PROTECTED_PATH_61")))
(deny file-write* (subpath (param "PROTECTED_PATH_61")))
(deny file-read* (literal (param "PROTECTED_PATH_62")))
(deny file-read* (subpath (param "PROTECTED_PATH_62")))
(deny file-write* (literal (param "PROTECTED_PATH_62")))
(deny file-write* (subpath (param "PROTECTED_PATH_62")))
(deny file-read* (literal (param "PROTECTED_PATH_63")))
(deny file-read* (subpath (param "PROTECTED_PATH_63")))
(deny file-write* (literal (param "PROTECTED_PATH_63")))
(deny file-write* (subpath (param "PROTECTED_PATH_63")))
(deny file-read* (literal (param "PROTECTED_PATH_64")))
(deny file-read* (subpath (param "PROTECTED_PATH_64")))
(deny file-write* (literal (param "PROTECTED_PATH_64")))
(deny file-write* (subpath (param "PROTECTED_PATH_64")))
(deny file-read* (literal (param "PROTECTED_PATH_65")))
(deny file-read* (subpath (param "PROTECTED_PATH_65")))
(deny file-write* (literal (param "PROTECTED_PATH_65")))
(deny file-write* (subpath (param "PROTECTED_PATH_65")))
(deny file-read* (literal (param "PROTECTED_PATH_66")))
(deny file-read* (subpath (param "PROTECTED_PATH_66")))
(deny file-write* (literal (param "PROTECTED_PATH_66")))
(deny file-write* (subpath (param "PROTECTED_PATH_66")))
(deny file-read* (literal (param "PROTECTED_PATH_67")))
(deny file-read* (subpath (param "PROTECTED_PATH_67")))
(deny file-write* (literal (param "PROTECTED_PATH_67")))
(deny file-write* (subpath (param "PROTECTED_PATH_67")))
(deny file-read* (literal (param "PROTECTED_PATH_68")))
(deny file-read* (subpath (param "PROTECTED_PATH_68")))
(deny file-write* (literal (param "PROTECTED_PATH_68")))
(deny file-write* (subpath (param "PROTECTED_PATH_68")))
(deny file-read* (literal (param "PROTECTED_PATH_69")))
(deny file-read* (subpath (param "PROTECTED_PATH_69")))
(deny file-write* (literal (param "PROTECTED_PATH_69")))
(deny file-write* (subpath (param "PROTECTED_PATH_69")))
(deny file-read* (literal (param "PROTECTED_PATH_70")))
(deny file-read* (subpath (param "PROTECTED_PATH_70")))
(deny file-write* (literal (param "PROTECTED_PATH_70")))
(deny file-write* (subpath (param "PROTECTED_PATH_70")))
(deny file-read* (literal (param "PROTECTED_PATH_71")))
(deny file-read* (subpath (param "PROTECTED_PATH_71")))
(deny file-write* (literal (param "PROTECTED_PATH_71")))
(deny file-write* (subpath (param "PROTECTED_PATH_71")))
(deny file-read* (literal (param "PROTECTED_PATH_72")))
(deny file-read* (subpath (param "PROTECTED_PATH_72")))
(deny file-write* (literal (param "PROTECTED_PATH_72")))
(deny file-write* (subpath (param "PROTECTED_PATH_72")))
(deny file-read* (literal (param "PROTECTED_PATH_73")))
(deny file-read* (subpath (param "PROTECTED_PATH_73")))
(deny file-write* (literal (param "PROTECTED_PATH_73")))
(deny file-write* (subpath (param "PROTECTED_PATH_73")))
(deny file-read* (literal (param "PROTECTED_PATH_74")))
(deny file-read* (subpath (param "PROTECTED_PATH_74")))
(deny file-write* (literal (param "PROTECTED_PATH_74")))
(deny file-write* (subpath (param "PROTECTED_PATH_74")))
(deny file-read* (literal (param "PROTECTED_PATH_75")))
(deny file-read* (subpath (param "PROTECTED_PATH_75")))
(deny file-write* (literal (param "PROTECTED_PATH_75")))
(deny file-write* (subpath (param "PROTECTED_PATH_75")))
(deny file-read* (literal (param "PROTECTED_PATH_76")))
(deny file-read* (subpath (param "PROTECTED_PATH_76")))
(deny file-write* (literal (param "PROTECTED_PATH_76")))
(deny file-write* (subpath (param "PROTECTED_PATH_76")))
(deny file-read* (literal (param "PROTECTED_PATH_77")))
(deny file-read* (subpath (param "PROTECTED_PATH_77")))
(deny file-write* (literal (param "PROTECTED_PATH_77")))
(deny file-write* (subpath (param "PROTECTED_PATH_77")))
(deny file-read* (literal (param "PROTECTED_PATH_78")))
(deny file-read* (subpath (param "PROTECTED_PATH_78")))
(deny file-write* (literal (param "PROTECTED_PATH_78")))
(deny file-write* (subpath (param "PROTECTED_PATH_78")))
(deny file-read* (literal (param "PROTECTED_PATH_79")))
(deny file-read* (subpath (param "PROTECTED_PATH_79")))
(deny file-write* (literal (param "PROTECTED_PATH_79")))
(deny file-write* (subpath (param "PROTECTED_PATH_79")))
(deny file-read* (literal (param "PROTECTED_PATH_80")))
(deny file-read* (subpath (param "PROTECTED_PATH_80")))
(deny file-write* (literal (param "PROTECTED_PATH_80")))
(deny file-write* (subpath (param "PROTECTED_PATH_80")))
(deny file-read* (literal (param "PROTECTED_PATH_81")))
(deny file-read* (subpath (param "PROTECTED_PATH_81")))
(deny file-write* (literal (param "PROTECTED_PATH_81")))
(deny file-write* (subpath (param "PROTECTED_PATH_81")))
(deny file-read* (literal (param "PROTECTED_PATH_82")))
(deny file-read* (subpath (param "PROTECTED_PATH_82")))
(deny file-write* (literal (param "PROTECTED_PATH_82")))
(deny file-write* (subpath (param "PROTECTED_PATH_82")))
(deny file-read* (literal (param "PROTECTED_PATH_83")))
(deny file-read* (subpath (param "PROTECTED_PATH_83")))
(deny file-write* (literal (param "PROTECTED_PATH_83")))
(deny file-write* (subpath (param "PROTECTED_PATH_83")))
(deny file-read* (literal (param "PROTECTED_PATH_84")))
(deny file-read* (subpath (param "PROTECTED_PATH_84")))
(deny file-write* (literal (param "PROTECTED_PATH_84")))
(deny file-write* (subpath (param "PROTECTED_PATH_84")))
(deny file-read* (literal (param "PROTECTED_PATH_85")))
(deny file-read* (subpath (param "PROTECTED_PATH_85")))
(deny file-write* (literal (param "PROTECTED_PATH_85")))
(deny file-write* (subpath (param "PROTECTED_PATH_85")))
(deny file-read* (literal (param "PROTECTED_PATH_86")))
(deny file-read* (subpath (param "PROTECTED_PATH_86")))
(deny file-write* (literal (param "PROTECTED_PATH_86")))
(deny file-write* (subpath (param "PROTECTED_PATH_86")))
(deny file-read* (literal (param "PROTECTED_PATH_87")))
(deny file-read* (subpath (param "PROTECTED_PATH_87")))
(deny file-write* (literal (param "PROTECTED_PATH_87")))
(deny file-write* (subpath (param "PROTECTED_PATH_87")))
(deny file-read* (literal (param "PROTECTED_PATH_88")))
(deny file-read* (subpath (param "PROTECTED_PATH_88")))
(deny file-write* (literal (param "PROTECTED_PATH_88")))
(deny file-write* (subpath (param "PROTECTED_PATH_88")))
(deny file-read* (literal (param "PROTECTED_PATH_89")))
(deny file-read* (subpath (param "PROTECTED_PATH_89")))
(deny file-write* (literal (param "PROTECTED_PATH_89")))
(deny file-write* (subpath (param "PROTECTED_PATH_89")))
(deny file-read* (literal (param "PROTECTED_PATH_90")))
(deny file-read* (subpath (param "PROTECTED_PATH_90")))
(deny file-write* (literal (param "PROTECTED_PATH_90")))
(deny file-write* (subpath (param "PROTECTED_PATH_90")))
(deny file-read* (literal (param "PROTECTED_PATH_91")))
(deny file-read* (subpath (param "PROTECTED_PATH_91")))
(deny file-write* (literal (param "PROTECTED_PATH_91")))
(deny file-write* (subpath (param "PROTECTED_PATH_91")))
(deny file-read* (literal (param "PROTECTED_PATH_92")))
(deny file-read* (subpath (param "PROTECTED_PATH_92")))
(deny file-write* (literal (param "PROTECTED_PATH_92")))
(deny file-write* (subpath (param "PROTECTED_PATH_92")))
(deny file-read* (literal (param "PROTECTED_PATH_93")))
(deny file-read* (subpath (param "PROTECTED_PATH_93")))
(deny file-write* (literal (param "PROTECTED_PATH_93")))
(deny file-write* (subpath (param "PROTECTED_PATH_93")))
(deny file-read* (literal (param "PROTECTED_PATH_94")))
(deny file-read* (subpath (param "PROTECTED_PATH_94")))
(deny file-write* (literal (param "PROTECTED_PATH_94")))
(deny file-write* (subpath (param "PROTECTED_PATH_94")))
(deny file-read* (literal (param "PROTECTED_PATH_95")))
(deny file-read* (subpath (param "PROTECTED_PATH_95")))
(deny file-write* (literal (param "PROTECTED_PATH_95")))
(deny file-write* (subpath (param "PROTECTED_PATH_95")))
(deny file-read* (literal (param "PROTECTED_PATH_96")))
(deny file-read* (subpath (param "PROTECTED_PATH_96")))
(deny file-write* (literal (param "PROTECTED_PATH_96")))
(deny file-write* (subpath (param "PROTECTED_PATH_96")))
(deny file-read* (literal (param "PROTECTED_PATH_97")))
(deny file-read* (subpath (param "PROTECTED_PATH_97")))
(deny file-write* (literal (param "PROTECTED_PATH_97")))
(deny file-write* (subpath (param "PROTECTED_PATH_97")))
(deny file-read* (literal (param "PROTECTED_PATH_98")))
(deny file-read* (subpath (param "PROTECTED_PATH_98")))
(deny file-write* (literal (param "PROTECTED_PATH_98")))
(deny file-write* (subpath (param "PROTECTED_PATH_98")))
(deny file-read* (literal (param "PROTECTED_PATH_99")))
(deny file-read* (subpath (param "PROTECTED_PATH_99")))
(deny file-write* (literal (param "PROTECTED_PATH_99")))
(deny file-write* (subpath (param "PROTECTED_PATH_99")))
(deny file-read* (literal (param "PROTECTED_PATH_100")))
(deny file-read* (subpath (param "PROTECTED_PATH_100")))
(deny file-write* (literal (param "PROTECTED_PATH_100")))
(deny file-write* (subpath (param "PROTECTED_PATH_100")))
(deny file-read* (literal (param "PROTECTED_PATH_101")))
(deny file-read* (subpath (param "PROTECTED_PATH_101")))
(deny file-write* (literal (param "PROTECTED_PATH_101")))
(deny file-write* (subpath (param "PROTECTED_PATH_101")))
(deny file-read* (literal (param "PROTECTED_PATH_102")))
(deny file-read* (subpath (param "PROTECTED_PATH_102")))
(deny file-write* (literal (param "PROTECTED_PATH_102")))
(deny file-write* (subpath (param "PROTECTED_PATH_102")))
(deny file-read* (literal (param "PROTECTED_PATH_103")))
(deny file-read* (subpath (param "PROTECTED_PATH_103")))
(deny file-write* (literal (param "PROTECTED_PATH_103")))
(deny file-write* (subpath (param "PROTECTED_PATH_103")))
(deny file-read* (literal (param "PROTECTED_PATH_104")))
(deny file-read* (subpath (param "PROTECTED_PATH_104")))
(deny file-write* (literal (param "PROTECTED_PATH_104")))
(deny file-write* (subpath (param "PROTECTED_PATH_104")))
(deny file-read* (literal (param "PROTECTED_PATH_105")))
(deny file-read* (subpath (param "PROTECTED_PATH_105")))
(deny file-write* (literal (param "PROTECTED_PATH_105")))
(deny file-write* (subpath (param "PROTECTED_PATH_105")))
(deny file-read* (literal (param "PROTECTED_PATH_106")))
(deny file-read* (subpath (param "PROTECTED_PATH_106")))
(deny file-write* (literal (param "PROTECTED_PATH_106")))
(deny file-write* (subpath (param "PROTECTED_PATH_106")))
(deny file-read* (literal (param "PROTECTED_PATH_107")))
(deny file-read* (subpath (param "PROTECTED_PATH_107")))
(deny file-write* (literal (param "PROTECTED_PATH_107")))
(deny file-write* (subpath (param "PROTECTED_PATH_107")))
(deny file-read* (literal (param "PROTECTED_PATH_108")))
(deny file-read* (subpath (param "PROTECTED_PATH_108")))
(deny file-write* (literal (param "PROTECTED_PATH_108")))
(deny file-write* (subpath (param "PROTECTED_PATH_108")))
(deny file-read* (literal (param "PROTECTED_PATH_109")))
(deny file-read* (subpath (param "PROTECTED_PATH_109")))
(deny file-write* (literal (param "PROTECTED_PATH_109")))
(deny file-write* (subpath (param "PROTECTED_PATH_109")))
(deny file-read* (literal (param "PROTECTED_PATH_110")))
(deny file-read* (subpath (param "PROTECTED_PATH_110")))
(deny file-write* (literal (param "PROTECTED_PATH_110")))
(deny file-write* (subpath (param "PROTECTED_PATH_110")))
(deny file-read* (literal (param "PROTECTED_PATH_111")))
(deny file-read* (subpath (param "PROTECTED_PATH_111")))
(deny file-write* (literal (param "PROTECTED_PATH_111")))
(deny file-write* (subpath (param "PROTECTED_PATH_111")))
(deny file-read* (literal (param "PROTECTED_PATH_112")))
(deny file-read* (subpath (param "PROTECTED_PATH_112")))
(deny file-write* (literal (param "PROTECTED_PATH_112")))
(deny file-write* (subpath (param "PROTECTED_PATH_112")))
(deny file-read* (literal (param "PROTECTED_PATH_113")))
(deny file-read* (subpath (param "PROTECTED_PATH_113")))
(deny file-write* (literal (param "PROTECTED_PATH_113")))
(deny file-write* (subpath (param "PROTECTED_PATH_113")))
(deny file-read* (literal (param "PROTECTED_PATH_114")))
(deny file-read* (subpath (param "PROTECTED_PATH_114")))
(deny file-write* (literal (param "PROTECTED_PATH_114")))
(deny file-write* (subpath (param "PROTECTED_PATH_114")))
(deny file-read* (literal (param "PROTECTED_PATH_115")))
(deny file-read* (subpath (param "PROTECTED_PATH_115")))
(deny file-write* (literal (param "PROTECTED_PATH_115")))
(deny file-write* (subpath (param "PROTECTED_PATH_115")))
(deny file-read* (literal (param "PROTECTED_PATH_116")))
(deny file-read* (subpath (param "PROTECTED_PATH_116")))
(deny file-write* (literal (param "PROTECTED_PATH_116")))
(deny file-write* (subpath (param "PROTECTED_PATH_116")))
(deny file-read* (literal (param "PROTECTED_PATH_117")))
(deny file-read* (subpath (param "PROTECTED_PATH_117")))
(deny file-write* (literal (param "PROTECTED_PATH_117")))
(deny file-write* (subpath (param "PROTECTED_PATH_117")))
(deny file-read* (literal (param "PROTECTED_PATH_118")))
(deny file-read* (subpath (param "PROTECTED_PATH_118")))
(deny file-write* (literal (param "PROTECTED_PATH_118")))
(deny file-write* (subpath (param "PROTECTED_PATH_118")))
(deny file-read* (literal (param "PROTECTED_PATH_119")))
(deny file-read* (subpath (param "PROTECTED_PATH_119")))
(deny file-write* (literal (param "PROTECTED_PATH_119")))
(deny file-write* (subpath (param "PROTECTED_PATH_119")))
(deny file-read* (literal (param "PROTECTED_PATH_120")))
(deny file-read* (subpath (param "PROTECTED_PATH_120")))
(deny file-write* (literal (param "PROTECTED_PATH_120")))
(deny file-write* (subpath (param "PROTECTED_PATH_120")))
(deny file-read* (literal (param "PROTECTED_PATH_121")))
(deny file-read* (subpath (param "PROTECTED_PATH_121")))
(deny file-write* (literal (param "PROTECTED_PATH_121")))
(deny file-write* (subpath (param "PROTECTED_PATH_121")))
(deny file-read* (literal (param "PROTECTED_PATH_122")))
(deny file-read* (subpath (param "PROTECTED_PATH_122")))
(deny file-write* (literal (param "PROTECTED_PATH_122")))
(deny file-write* (subpath (param "PROTECTED_PATH_122")))
(deny file-read* (literal (param "PROTECTED_PATH_123")))
(deny file-read* (subpath (param "PROTECTED_PATH_123")))
(deny file-write* (literal (param "PROTECTED_PATH_123")))
(deny file-write* (subpath (param "PROTECTED_PATH_123")))
(deny file-read* (literal (param "PROTECTED_PATH_124")))
(deny file-read* (subpath (param "PROTECTED_PATH_124")))
(deny file-write* (literal (param "PROTECTED_PATH_124")))
(deny file-write* (subpath (param "PROTECTED_PATH_124")))
(deny file-read* (literal (param "PROTECTED_PATH_125")))
(deny file-read* (subpath (param "PROTECTED_PATH_125")))
(deny file-write* (literal (param "PROTECTED_PATH_125")))
(deny file-write* (subpath (param "PROTECTED_PATH_125")))
(deny file-read* (literal (param "PROTECTED_PATH_126")))
(deny file-read* (subpath (param "PROTECTED_PATH_126")))
(deny file-write* (literal (param "PROTECTED_PATH_126")))
(deny file-write* (subpath (param "PROTECTED_PATH_126")))
(deny file-read* (literal (param "PROTECTED_PATH_127")))
(deny file-read* (subpath (param "PROTECTED_PATH_127")))
(deny file-write* (literal (param "PROTECTED_PATH_127")))
(deny file-write* (subpath (param "PROTECTED_PATH_127")))
(deny file-read* (literal (param "PROTECTED_PATH_128")))
(deny file-read* (subpath (param "PROTECTED_PATH_128")))
(deny file-write* (literal (param "PROTECTED_PATH_128")))
(deny file-write* (subpath (param "PROTECTED_PATH_128")))
(deny file-read* (literal (param "PROTECTED_PATH_129")))
(deny file-read* (subpath (param "PROTECTED_PATH_129")))
(deny file-write* (literal (param "PROTECTED_PATH_129")))
(deny file-write* (subpath (param "PROTECTED_PATH_129")))
(deny file-read* (literal (param "PROTECTED_PATH_130")))
(deny file-read* (subpath (param "PROTECTED_PATH_130")))
(deny file-write* (literal (param "PROTECTED_PATH_130")))
(deny file-write* (subpath (param "PROTECTED_PATH_130")))
(deny file-read* (literal (param "PROTECTED_PATH_131")))
(deny file-read* (subpath (param "PROTECTED_PATH_131")))
(deny file-write* (literal (param "PROTECTED_PATH_131")))
(deny file-write* (subpath (param "PROTECTED_PATH_131")))
(deny file-read* (literal (param "PROTECTED_PATH_132")))
(deny file-read* (subpath (param "PROTECTED_PATH_132")))
(deny file-write* (literal (param "PROTECTED_PATH_132")))
(deny file-write* (subpath (param "PROTECTED_PATH_132")))
(deny file-read* (literal (param "PROTECTED_PATH_133")))
(deny file-read* (subpath (param "PROTECTED_PATH_133")))
(deny file-write* (literal (param "PROTECTED_PATH_133")))
(deny file-write* (subpath (param "PROTECTED_PATH_133")))
(deny file-read* (literal (param "PROTECTED_PATH_134")))
(deny file-read* (subpath (param "PROTECTED_PATH_134")))
(deny file-write* (literal (param "PROTECTED_PATH_134")))
(deny file-write* (subpath (param "PROTECTED_PATH_134")))
(deny file-read* (literal (param "PROTECTED_PATH_135")))
(deny file-read* (subpath (param "PROTECTED_PATH_135")))
(deny file-write* (literal (param "PROTECTED_PATH_135")))
(deny file-write* (subpath (param "PROTECTED_PATH_135")))
(deny file-read* (literal (param "PROTECTED_PATH_136")))
(deny file-read* (subpath (param "PROTECTED_PATH_136")))
(deny file-write* (literal (param "PROTECTED_PATH_136")))
(deny file-write* (subpath (param "PROTECTED_PATH_136")))
(deny file-read* (literal (param "PROTECTED_PATH_137")))
(deny file-read* (subpath (param "PROTECTED_PATH_137")))
(deny file-write* (literal (param "PROTECTED_PATH_137")))
(deny file-write* (subpath (param "PROTECTED_PATH_137")))
(deny file-read* (literal (param "PROTECTED_PATH_138")))
(deny file-read* (subpath (param "PROTECTED_PATH_138")))
(deny file-write* (literal (param "PROTECTED_PATH_138")))
(deny file-write* (subpath (param "PROTECTED_PATH_138")))
(deny file-read* (literal (param "PROTECTED_PATH_139")))
(deny file-read* (subpath (param "PROTECTED_PATH_139")))
(deny file-write* (literal (param "PROTECTED_PATH_139")))
(deny file-write* (subpath (param "PROTECTED_PATH_139")))
(deny file-read* (literal (param "PROTECTED_PATH_140")))
(deny file-read* (subpath (param "PROTECTED_PATH_140")))
(deny file-write* (literal (param "PROTECTED_PATH_140")))
(deny file-write* (subpath (param "PROTECTED_PATH_140")))
(deny file-read* (literal (param "PROTECTED_PATH_141")))
(deny file-read* (subpath (param "PROTECTED_PATH_141")))
(deny file-write* (literal (param "PROTECTED_PATH_141")))
(deny file-write* (subpath (param "PROTECTED_PATH_141")))
(deny file-read* (literal (param "PROTECTED_PATH_142")))
(deny file-read* (subpath (param "PROTECTED_PATH_142")))
(deny file-write* (literal (param "PROTECTED_PATH_142")))
(deny file-write* (subpath (param "PROTECTED_PATH_142")))
(deny file-read* (literal (param "PROTECTED_PATH_143")))
(deny file-read* (subpath (param "PROTECTED_PATH_143")))
(deny file-write* (literal (param "PROTECTED_PATH_143")))
(deny file-write* (subpath (param "PROTECTED_PATH_143")))
(deny file-read* (literal (param "PROTECTED_PATH_144")))
(deny file-read* (subpath (param "PROTECTED_PATH_144")))
(deny file-write* (literal (param "PROTECTED_PATH_144")))
(deny file-write* (subpath (param "PROTECTED_PATH_144")))
(deny file-read* (literal (param "PROTECTED_PATH_145")))
(deny file-read* (subpath (param "PROTECTED_PATH_145")))
(deny file-write* (literal (param "PROTECTED_PATH_145")))
(deny file-write* (subpath (param "PROTECTED_PATH_145")))
(deny file-read* (literal (param "PROTECTED_PATH_146")))
(deny file-read* (subpath (param "PROTECTED_PATH_146")))
(deny file-write* (literal (param "PROTECTED_PATH_146")))
(deny file-write* (subpath (param "PROTECTED_PATH_146")))
(deny file-read* (literal (param "PROTECTED_PATH_147")))
(deny file-read* (subpath (param "PROTECTED_PATH_147")))
(deny file-write* (literal (param "PROTECTED_PATH_147")))
(deny file-write* (subpath (param "PROTECTED_PATH_147")))
(deny file-read* (literal (param "PROTECTED_PATH_148")))
(deny file-read* (subpath (param "PROTECTED_PATH_148")))
(deny file-write* (literal (param "PROTECTED_PATH_148")))
(deny file-write* (subpath (param "PROTECTED_PATH_148")))
(deny file-read* (literal (param "PROTECTED_PATH_149")))
(deny file-read* (subpath (param "PROTECTED_PATH_149")))
(deny file-write* (literal (param "PROTECTED_PATH_149")))
(deny file-write* (subpath (param "PROTECTED_PATH_149")))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_0"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_1"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_2"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_3"))))
(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param "PROTECTED_ANCESTOR_4"))))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_0")))
(deny file-write-create (literal (param "PROTECTED_ANCESTOR_1")))
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
PROTECTED_PATH_0=/Users/me/work/keys/1000
PROTECTED_PATH_1=/Users/me/work/keys/1001
PROTECTED_PATH_2=/Users/me/work/keys/1002
PROTECTED_PATH_3=/Users/me/work/keys/1003
PROTECTED_PATH_4=/Users/me/work/keys/1004
PROTECTED_PATH_5=/Users/me/work/keys/1005
PROTECTED_PATH_6=/Users/me/work/keys/1006
PROTECTED_PATH_7=/Users/me/work/keys/1007
PROTECTED_PATH_8=/Users/me/work/keys/1008
PROTECTED_PATH_9=/Users/me/work/keys/1009
PROTECTED_PATH_10=/Users/me/work/keys/1010
PROTECTED_PATH_11=/Users/me/work/keys/1011
PROTECTED_PATH_12=/Users/me/work/keys/1012
PROTECTED_PATH_13=/Users/me/work/keys/1013
PROTECTED_PATH_14=/Users/me/work/keys/1014
PROTECTED_PATH_15=/Users/me/work/keys/1015
PROTECTED_PATH_16=/Users/me/work/keys/1016
PROTECTED_PATH_17=/Users/me/work/keys/1017
PROTECTED_PATH_18=/Users/me/work/keys/1018
PROTECTED_PATH_19=/Users/me/work/keys/1019
PROTECTED_PATH_20=/Users/me/work/keys/1020
PROTECTED_PATH_21=/Users/me/work/keys/1021
PROTECTED_PATH_22=/Users/me/work/keys/1022
PROTECTED_PATH_23=/Users/me/work/keys/1023
PROTECTED_PATH_24=/Users/me/work/keys/1024
PROTECTED_PATH_25=/Users/me/work/keys/1025
PROTECTED_PATH_26=/Users/me/work/keys/1026
PROTECTED_PATH_27=/Users/me/work/keys/1027
PROTECTED_PATH_28=/Users/me/work/keys/1028
PROTECTED_PATH_29=/Users/me/work/keys/1029
PROTECTED_PATH_30=/Users/me/work/keys/1030
PROTECTED_PATH_31=/Users/me/work/keys/1031
PROTECTED_PATH_32=/Users/me/work/keys/1032
PROTECTED_PATH_33=/Users/me/work/keys/1033
PROTECTED_PATH_34=/Users/me/work/keys/1034
PROTECTED_PATH_35=/Users/me/work/keys/1035
PROTECTED_PATH_36=/Users/me/work/keys/1036
PROTECTED_PATH_37=/Users/me/work/keys/1037
PROTECTED_PATH_38=/Users/me/work/keys/1038
PROTECTED_PATH_39=/Users/me/work/keys/1039
PROTECTED_PATH_40=/Users/me/work/keys/1040
PROTECTED_PATH_41=/Users/me/work/keys/1041
PROTECTED_PATH_42=/Users/me/work/keys/1042
PROTECTED_PATH_43=/Users/me/work/keys/1043
PROTECTED_PATH_44=/Users/me/work/keys/1044
PROTECTED_PATH_45=/Users/me/work/keys/1045
PROTECTED_PATH_46=/Users/me/work/keys/1046
PROTECTED_PATH_47=/Users/me/work/keys/1047
PROTECTED_PATH_48=/Users/me/work/keys/1048
PROTECTED_PATH_49=/Users/me/work/keys/1049
PROTECTED_PATH_50=/Users/me/work/keys/1050
PROTECTED_PATH_51=/Users/me/work/keys/1051
PROTECTED_PATH_52=/Users/me/work/keys/1052
PROTECTED_PATH_53=/Users/me/work/keys/1053
PROTECTED_PATH_54=/Users/me/work/keys/1054
PROTECTED_PATH_55=/Users/me/work/keys/1055
PROTECTED_PATH_56=/Users/me/work/keys/1056
PROTECTED_PATH_57=/Users/me/work/keys/1057
PROTECTED_PATH_58=/Users/me/work/keys/1058
PROTECTED_PATH_59=/Users/me/work/keys/1059
PROTECTED_PATH_60=/Users/me/work/keys/1060
PROTECTED_PATH_61=/Users/me/work/keys/1061
PROTECTED_PATH_62=/Users/me/work/keys/1062
PROTECTED_PATH_63=/Users/me/work/keys/1063
PROTECTED_PATH_64=/Users/me/work/keys/1064
PROTECTED_PATH_65=/Users/me/work/keys/1065
PROTECTED_PATH_66=/Users/me/work/keys/1066
PROTECTED_PATH_67=/Users/me/work/keys/1067
PROTECTED_PATH_68=/Users/me/work/keys/1068
PROTECTED_PATH_69=/Users/me/work/keys/1069
PROTECTED_PATH_70=/Users/me/work/keys/1070
PROTECTED_PATH_71=/Users/me/work/keys/1071
PROTECTED_PATH_72=/Users/me/work/keys/1072
PROTECTED_PATH_73=/Users/me/work/keys/1073
PROTECTED_PATH_74=/Users/me/work/keys/1074
PROTECTED_PATH_75=/Users/me/work/keys/1075
PROTECTED_PATH_76=/Users/me/work/keys/1076
PROTECTED_PATH_77=/Users/me/work/keys/1077
PROTECTED_PATH_78=/Users/me/work/keys/1078
PROTECTED_PATH_79=/Users/me/work/keys/1079
PROTECTED_PATH_80=/Users/me/work/keys/1080
PROTECTED_PATH_81=/Users/me/work/keys/1081
PROTECTED_PATH_82=/Users/me/work/keys/1082
PROTECTED_PATH_83=/Users/me/work/keys/1083
PROTECTED_PATH_84=/Users/me/work/keys/1084
PROTECTED_PATH_85=/Users/me/work/keys/1085
PROTECTED_PATH_86=/Users/me/work/keys/1086
PROTECTED_PATH_87=/Users/me/work/keys/1087
PROTECTED_PATH_88=/Users/me/work/keys/1088
PROTECTED_PATH_89=/Users/me/work/keys/1089
PROTECTED_PATH_90=/Users/me/work/keys/1090
PROTECTED_PATH_91=/Users/me/work/keys/1091
PROTECTED_PATH_92=/Users/me/work/keys/1092
PROTECTED_PATH_93=/Users/me/work/keys/1093
PROTECTED_PATH_94=/Users/me/work/keys/1094
PROTECTED_PATH_95=/Users/me/work/keys/1095
PROTECTED_PATH_96=/Users/me/work/keys/1096
PROTECTED_PATH_97=/Users/me/work/keys/1097
PROTECTED_PATH_98=/Users/me/work/keys/1098
PROTECTED_PATH_99=/Users/me/work/keys/1099
PROTECTED_PATH_100=/Users/me/work/keys/1100
PROTECTED_PATH_101=/Users/me/work/keys/1101
PROTECTED_PATH_102=/Users/me/work/keys/1102
PROTECTED_PATH_103=/Users/me/work/keys/1103
PROTECTED_PATH_104=/Users/me/work/keys/1104
PROTECTED_PATH_105=/Users/me/work/keys/1105
PROTECTED_PATH_106=/Users/me/work/keys/1106
PROTECTED_PATH_107=/Users/me/work/keys/1107
PROTECTED_PATH_108=/Users/me/work/keys/1108
PROTECTED_PATH_109=/Users/me/work/keys/1109
PROTECTED_PATH_110=/Users/me/work/keys/1110
PROTECTED_PATH_111=/Users/me/work/keys/1111
PROTECTED_PATH_112=/Users/me/work/keys/1112
PROTECTED_PATH_113=/Users/me/work/keys/1113
PROTECTED_PATH_114=/Users/me/work/keys/1114
PROTECTED_PATH_115=/Users/me/work/keys/1115
PROTECTED_PATH_116=/Users/me/work/keys/1116
PROTECTED_PATH_117=/Users/me/work/keys/1117
PROTECTED_PATH_118=/Users/me/work/keys/1118
PROTECTED_PATH_119=/Users/me/work/keys/1119
PROTECTED_PATH_120=/Users/me/work/keys/1120
PROTECTED_PATH_121=/Users/me/work/keys/1121
PROTECTED_PATH_122=/Users/me/work/keys/1122
PROTECTED_PATH_123=/Users/me/work/keys/1123
PROTECTED_PATH_124=/Users/me/work/keys/1124
PROTECTED_PATH_125=/Users/me/work/keys/1125
PROTECTED_PATH_126=/Users/me/work/keys/1126
PROTECTED_PATH_127=/Users/me/work/keys/1127
PROTECTED_PATH_128=/Users/me/work/keys/1128
PROTECTED_PATH_129=/Users/me/work/keys/1129
PROTECTED_PATH_130=/Users/me/work/keys/1130
PROTECTED_PATH_131=/Users/me/work/keys/1131
PROTECTED_PATH_132=/Users/me/work/keys/1132
PROTECTED_PATH_133=/Users/me/work/keys/1133
PROTECTED_PATH_134=/Users/me/work/keys/1134
PROTECTED_PATH_135=/Users/me/work/keys/1135
PROTECTED_PATH_136=/Users/me/work/keys/1136
PROTECTED_PATH_137=/Users/me/work/keys/1137
PROTECTED_PATH_138=/Users/me/work/keys/1138
PROTECTED_PATH_139=/Users/me/work/keys/1139
PROTECTED_PATH_140=/Users/me/work/keys/1140
PROTECTED_PATH_141=/Users/me/work/keys/1141
PROTECTED_PATH_142=/Users/me/work/keys/1142
PROTECTED_PATH_143=/Users/me/work/keys/1143
PROTECTED_PATH_144=/Users/me/work/keys/1144
PROTECTED_PATH_145=/Users/me/work/keys/1145
PROTECTED_PATH_146=/Users/me/work/keys/1146
PROTECTED_PATH_147=/Users/me/work/keys/1147
PROTECTED_PATH_148=/Users/me/work/keys/1148
PROTECTED_PATH_149=/Users/me/work/keys/1149
PROTECTED_ANCESTOR_0=/Users/me/work
PROTECTED_ANCESTOR_1=/Users/me/work/keys
PROTECTED_ANCESTOR_2=/private/tmp/loom-exec-scratch-0123
PROTECTED_ANCESTOR_3=/private/var/folders/zz/C
PROTECTED_ANCESTOR_4=/private/var/folders/zz/T
--- view
root tmpfs /
readable /System
root tmpfs /System/Volumes
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
protected /Users/me/work/keys/1000
protected /Users/me/work/keys/1001
protected /Users/me/work/keys/1002
protected /Users/me/work/keys/1003
protected /Users/me/work/keys/1004
protected /Users/me/work/keys/1005
protected /Users/me/work/keys/1006
protected /Users/me/work/keys/1007
protected /Users/me/work/keys/1008
protected /Users/me/work/keys/1009
protected /Users/me/work/keys/1010
protected /Users/me/work/keys/1011
protected /Users/me/work/keys/1012
protected /Users/me/work/keys/1013
protected /Users/me/work/keys/1014
protected /Users/me/work/keys/1015
protected /Users/me/work/keys/1016
protected /Users/me/work/keys/1017
protected /Users/me/work/keys/1018
protected /Users/me/work/keys/1019
protected /Users/me/work/keys/1020
protected /Users/me/work/keys/1021
protected /Users/me/work/keys/1022
protected /Users/me/work/keys/1023
protected /Users/me/work/keys/1024
protected /Users/me/work/keys/1025
protected /Users/me/work/keys/1026
protected /Users/me/work/keys/1027
protected /Users/me/work/keys/1028
protected /Users/me/work/keys/1029
protected /Users/me/work/keys/1030
protected /Users/me/work/keys/1031
protected /Users/me/work/keys/1032
protected /Users/me/work/keys/1033
protected /Users/me/work/keys/1034
protected /Users/me/work/keys/1035
protected /Users/me/work/keys/1036
protected /Users/me/work/keys/1037
protected /Users/me/work/keys/1038
protected /Users/me/work/keys/1039
protected /Users/me/work/keys/1040
protected /Users/me/work/keys/1041
protected /Users/me/work/keys/1042
protected /Users/me/work/keys/1043
protected /Users/me/work/keys/1044
protected /Users/me/work/keys/1045
protected /Users/me/work/keys/1046
protected /Users/me/work/keys/1047
protected /Users/me/work/keys/1048
protected /Users/me/work/keys/1049
protected /Users/me/work/keys/1050
protected /Users/me/work/keys/1051
protected /Users/me/work/keys/1052
protected /Users/me/work/keys/1053
protected /Users/me/work/keys/1054
protected /Users/me/work/keys/1055
protected /Users/me/work/keys/1056
protected /Users/me/work/keys/1057
protected /Users/me/work/keys/1058
protected /Users/me/work/keys/1059
protected /Users/me/work/keys/1060
protected /Users/me/work/keys/1061
protected /Users/me/work/keys/1062
protected /Users/me/work/keys/1063
protected /Users/me/work/keys/1064
protected /Users/me/work/keys/1065
protected /Users/me/work/keys/1066
protected /Users/me/work/keys/1067
protected /Users/me/work/keys/1068
protected /Users/me/work/keys/1069
protected /Users/me/work/keys/1070
protected /Users/me/work/keys/1071
protected /Users/me/work/keys/1072
protected /Users/me/work/keys/1073
protected /Users/me/work/keys/1074
protected /Users/me/work/keys/1075
protected /Users/me/work/keys/1076
protected /Users/me/work/keys/1077
protected /Users/me/work/keys/1078
protected /Users/me/work/keys/1079
protected /Users/me/work/keys/1080
protected /Users/me/work/keys/1081
protected /Users/me/work/keys/1082
protected /Users/me/work/keys/1083
protected /Users/me/work/keys/1084
protected /Users/me/work/keys/1085
protected /Users/me/work/keys/1086
protected /Users/me/work/keys/1087
protected /Users/me/work/keys/1088
protected /Users/me/work/keys/1089
protected /Users/me/work/keys/1090
protected /Users/me/work/keys/1091
protected /Users/me/work/keys/1092
protected /Users/me/work/keys/1093
protected /Users/me/work/keys/1094
protected /Users/me/work/keys/1095
protected /Users/me/work/keys/1096
protected /Users/me/work/keys/1097
protected /Users/me/work/keys/1098
protected /Users/me/work/keys/1099
protected /Users/me/work/keys/1100
protected /Users/me/work/keys/1101
protected /Users/me/work/keys/1102
protected /Users/me/work/keys/1103
protected /Users/me/work/keys/1104
protected /Users/me/work/keys/1105
protected /Users/me/work/keys/1106
protected /Users/me/work/keys/1107
protected /Users/me/work/keys/1108
protected /Users/me/work/keys/1109
protected /Users/me/work/keys/1110
protected /Users/me/work/keys/1111
protected /Users/me/work/keys/1112
protected /Users/me/work/keys/1113
protected /Users/me/work/keys/1114
protected /Users/me/work/keys/1115
protected /Users/me/work/keys/1116
protected /Users/me/work/keys/1117
protected /Users/me/work/keys/1118
protected /Users/me/work/keys/1119
protected /Users/me/work/keys/1120
protected /Users/me/work/keys/1121
protected /Users/me/work/keys/1122
protected /Users/me/work/keys/1123
protected /Users/me/work/keys/1124
protected /Users/me/work/keys/1125
protected /Users/me/work/keys/1126
protected /Users/me/work/keys/1127
protected /Users/me/work/keys/1128
protected /Users/me/work/keys/1129
protected /Users/me/work/keys/1130
protected /Users/me/work/keys/1131
protected /Users/me/work/keys/1132
protected /Users/me/work/keys/1133
protected /Users/me/work/keys/1134
protected /Users/me/work/keys/1135
protected /Users/me/work/keys/1136
protected /Users/me/work/keys/1137
protected /Users/me/work/keys/1138
protected /Users/me/work/keys/1139
protected /Users/me/work/keys/1140
protected /Users/me/work/keys/1141
protected /Users/me/work/keys/1142
protected /Users/me/work/keys/1143
protected /Users/me/work/keys/1144
protected /Users/me/work/keys/1145
protected /Users/me/work/keys/1146
protected /Users/me/work/keys/1147
protected /Users/me/work/keys/1148
protected /Users/me/work/keys/1149
--- start
-f
/Users/me/work
--- when witnessed
seatbelt
seatbelt-fs:rw=4,mask=150,bind_ro=0,bind_rw=0,scratch=private-dir,base=minimal,plan=7f0c01b6ea378d13
seatbelt-net
--- extras
unheld:unix-path
