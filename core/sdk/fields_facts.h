#pragma once

#include <loom/facts.h>

#include "archive.h"

namespace loom::archive {

template <>
struct Enumerators<PathKind> {
  static constexpr PathKind kFirst = PathKind::kMissing;
  static constexpr PathKind kLast = PathKind::kOther;
};

template <>
struct Fields<FileIdentity> {
  static void visit(auto& archive, auto& value) {
    archive("device", value.device);
    archive("inode", value.inode);
  }
};

template <>
struct Blank<LinkFact> {
  static LinkFact make() { return {.place = AbsolutePath::root(), .target = {}}; }
};
template <>
struct Fields<LinkFact> {
  static void visit(auto& archive, auto& value) {
    archive("place", value.place);
    archive("target", value.target);
  }
};

template <>
struct Blank<PathFact> {
  static PathFact make() { return {.path = AbsolutePath::root(), .real = AbsolutePath::root()}; }
};
template <>
struct Fields<PathFact> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("real", value.real);
    archive("kind", value.kind);
    archive("identity", value.identity);
    archive("parent_identity", value.parent_identity);
    archive("link_count", value.link_count);
    archive("links", value.links);
    archive("error", value.error);
  }
};

template <>
struct Blank<DirectoryFact> {
  static DirectoryFact make() { return {.path = AbsolutePath::root()}; }
};
template <>
struct Fields<DirectoryFact> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("identity", value.identity);
    archive("placeholder", value.placeholder);
  }
};

template <>
struct Blank<MountFact> {
  static MountFact make() { return {.point = AbsolutePath::root(), .root = AbsolutePath::root()}; }
};
template <>
struct Fields<MountFact> {
  static void visit(auto& archive, auto& value) {
    archive("point", value.point);
    archive("root", value.root);
    archive("device", value.device);
  }
};

template <>
struct Fields<PieceFact> {
  static void visit(auto& archive, auto& value) {
    archive("present", value.present);
    archive("path", value.path);
    archive("reason", value.reason);
    archive("identity", value.identity);
  }
};

template <>
struct Fields<CeilingFact> {
  static void visit(auto& archive, auto& value) {
    archive("available", value.available);
    archive("reason", value.reason);
  }
};

template <>
struct Fields<HostFacts> {
  static void visit(auto& archive, auto& value) {
    archive("os", value.os);
    archive("machine", value.machine);
    archive("uid", value.uid);
    archive("gid", value.gid);
    archive("launcher", value.launcher);
    archive("stage2", value.stage2);
    archive("ceilings", value.ceilings);
    archive("descriptor_limit", value.descriptor_limit);
    archive("paths", value.paths);
    archive("directories", value.directories);
    archive("mounts", value.mounts);
    archive("backend", value.backend);
  }
};

}  // namespace loom::archive
