# Run by cpack when everything is installed into a folder for each component, and before packages are
# made of them: what Debian's policy wants of every package, and nobody else.
cmake_minimum_required(VERSION 3.25)
set(debian_dir ${CMAKE_CURRENT_LIST_DIR}/../docs/packaging/debian)

# compress(FILE): as FILE.gz, without a name or a time in it.
function(compress file)
  execute_process(COMMAND gzip --best --no-name --force ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  set(documents ${share}/doc/${package})

  configure_file(${debian_dir}/copyright ${documents}/copyright COPYONLY)
  configure_file(${debian_dir}/changelog ${documents}/changelog.Debian COPYONLY)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md ${documents}/changelog COPYONLY)
  # Under Debian's name it is there already.
  file(REMOVE ${documents}/CHANGELOG.md)
  file(GLOB pages ${share}/man/man*/*)
  foreach(file ${pages} ${documents}/changelog.Debian ${documents}/changelog)
    compress(${file})
  endforeach()
  if(EXISTS ${debian_dir}/${package}.lintian-overrides)
    configure_file(${debian_dir}/${package}.lintian-overrides
                   ${share}/lintian/overrides/${package} COPYONLY)
  endif()

  # Whoever builds has whatever umask, and their sources whatever modes.
  file(GLOB_RECURSE files LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/${component}/*)
  foreach(file ${files})
    set(mode OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    # The scripts of a project to copy are among its tests.
    if(IS_DIRECTORY ${file} OR file MATCHES "/usr/(bin|libexec)/|/examples/.*-backend/.*\\.sh$")
      list(APPEND mode OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
    endif()
    file(CHMOD ${file} FILE_PERMISSIONS ${mode})
  endforeach()
endforeach()
