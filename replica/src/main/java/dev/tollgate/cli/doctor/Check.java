package dev.tollgate.cli.doctor;

import java.util.List;

/** Looks at one part of a host. */
interface Check {
  /** What it looks at, in one word or two. */
  String subject();

  /** Returns what it found, at least one finding. Whatever it throws becomes a finding too. */
  List<Finding> run() throws Exception;
}
