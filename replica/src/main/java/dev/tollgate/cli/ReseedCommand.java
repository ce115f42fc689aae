package dev.tollgate.cli;

import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.wire.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Replaces the data of a stopped node with the leader's. */
@Command(
    name = "reseed",
    description = {
      "Replaces what a stopped node has by a snapshot of the leader.",
      "For a node that cannot recover by itself: its log is damaged, or it has lost its snapshots,"
          + " or it was found to differ. Its own files are set aside. Start it afterwards as usual."
    },
    mixinStandardHelpOptions = true)
final class ReseedCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--id",
      required = true,
      defaultValue = "${env:TOLLGATE_ID}",
      description = "Name of this node in the cluster. [TOLLGATE_ID]")
  private String id;

  @Option(
      names = "--data",
      required = true,
      defaultValue = "${env:TOLLGATE_DATA}",
      description = "Directory of this node. [TOLLGATE_DATA]")
  private Path data;

  @Option(
      names = "--from",
      required = true,
      defaultValue = "${env:TOLLGATE_URL}",
      description = "jdbc:tollgate://host:port,.../ of the cluster. [TOLLGATE_URL]")
  private String url;

  @Mixin private final LoginOptions login = new LoginOptions();
  @Mixin private final DataKeyOptions dataKeys = new DataKeyOptions();

  ReseedCommand() {}

  @Override
  public Integer call() {
    try {
      DataKeys keys = dataKeys.read(spec.commandLine());
      NodeDirectory.Reseeded reseeded =
          NodeDirectory.reseed(
              data,
              id,
              keys,
              (target, sealing) -> {
                Reply.SnapshotOpened snapshot =
                    SnapshotFetch.write(
                        url,
                        login.properties(url),
                        /* leaderOnly= */ true,
                        target,
                        sealing.isOn()
                            ? (out, opened) ->
                                sealing.seal(
                                    out, NodeDirectory.Seed.fileName(opened.term(), opened.index()))
                            : null);
                return new NodeDirectory.Seed(
                    snapshot.nodeId(), snapshot.term(), snapshot.index(), snapshot.configuration());
              });
      System.out.printf(
          "%s: begins with the snapshot of node %s at log index %d; what it had before is in %s:%n",
          id, reseeded.seed().nodeId(), reseeded.seed().index(), reseeded.setAside());
      reseeded.files().forEach(moved -> System.out.println("  " + moved.getFileName()));
      return 0;
    } catch (IOException e) {
      return Main.failed(id + " is as it was", e);
    }
  }
}
