package dev.tollgate.log.ratis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.server.storage.RaftStorageMetadata;

/** The vote of a node that does not run, for tests that change it. */
public final class WrittenVote {
  private WrittenVote() {}

  /**
   * Sets the term, and keeps the vote.
   *
   * @param data the directory of the node
   */
  public static void setTerm(Path data, long term) throws IOException {
    Path file = VoteFile.fileOf(RatisLog.groupDirectory(data));
    RaftStorageMetadata vote = VoteFile.read(file);
    Files.write(file, VoteCopies.bytes(RaftStorageMetadata.valueOf(term, vote.getVotedFor())));
  }
}
