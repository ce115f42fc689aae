package dev.tollgate.cli;

import dev.tollgate.log.SkipList;
import dev.tollgate.log.ratis.NodeDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Has a stopped node skip a command, for a cluster whose nodes all stop at the same command. */
@Command(
    name = "skip",
    description = {
      "Has a stopped node leave out a command of its log.",
      "For a cluster of which every node stops at the same command, again after a restart. Do it on"
          + " every node before one is started: nodes that skip different commands differ. The"
          + " client is told that its command was skipped."
    },
    mixinStandardHelpOptions = true)
final class SkipCommand implements Callable<Integer> {
  @Option(
      names = "--data",
      required = true,
      defaultValue = "${env:TOLLGATE_DATA}",
      description = "Directory of this node. [TOLLGATE_DATA]")
  private Path data;

  @Option(names = "--index", required = true, description = "The log entry that the node names.")
  private long logIndex;

  @Option(
      names = "--ordinal",
      description = "The command in that entry, from 0. (default: all of them)")
  private @Nullable Integer ordinal;

  SkipCommand() {}

  @Override
  public Integer call() {
    SkipList.Skip skip = new SkipList.Skip(logIndex, ordinal);
    if (logIndex < 1 || (ordinal != null && ordinal < 0)) {
      return Main.failed(skip + " is not skipped", new IOException("there is no such command"));
    }
    try {
      SkipList all = NodeDirectory.skip(data, skip);
      System.out.printf("%s leaves out: %s%n", data, all.skips());
      System.out.println("Do this on every node of the cluster before one is started.");
      return 0;
    } catch (IOException e) {
      return Main.failed(skip + " is not skipped", e);
    }
  }
}
