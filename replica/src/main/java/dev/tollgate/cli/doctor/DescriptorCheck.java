package dev.tollgate.cli.doctor;

import dev.tollgate.node.Descriptors;
import java.util.List;

/** The limit of open files and sockets, of which each connection of a client takes one. */
final class DescriptorCheck implements Check {
  private final int wanted;
  private final long limit;

  DescriptorCheck(int wanted) {
    this(wanted, Descriptors.limit());
  }

  DescriptorCheck(int wanted, long limit) {
    this.wanted = wanted;
    this.limit = limit;
  }

  @Override
  public String subject() {
    return "files";
  }

  @Override
  public List<Finding> run() {
    if (limit == Long.MAX_VALUE) {
      return List.of(Finding.pass(subject(), "no limit of open files is known"));
    }
    int connections = Descriptors.connections(limit, wanted);
    String fact = limit + " open files (ulimit -n), ";
    String advice =
        "allow "
            + ((long) wanted + Descriptors.OF_A_NODE)
            + ": LimitNOFILE= in a unit of systemd, ulimit -n in a shell";
    if (connections <= 0) {
      return List.of(
          Finding.fail(
              subject(), fact + "of which the node itself needs " + Descriptors.OF_A_NODE, advice));
    }
    String room = fact + "room for " + connections + " connections of --max-connections=" + wanted;
    return List.of(
        connections < wanted
            ? Finding.warn(subject(), room, advice)
            : Finding.pass(subject(), room));
  }
}
