package dev.tollgate.samples.torture.cluster;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Nodes as others have them, each with a data key of its own for its directory. */
public final class EncryptedAccess implements Access {
  private static final int KEY_BYTES = 32;

  private final Access access;
  private final Path directory;

  /**
   * @param directory where the key files are
   */
  public EncryptedAccess(Access access, Path directory) {
    this.access = requireNonNull(access, "access");
    this.directory = requireNonNull(directory, "directory");
  }

  /** Where the data key of a node is. */
  public static Path keyFile(Path directory, String node) {
    return directory.resolve(node + ".data-key");
  }

  @Override
  public List<String> options(String node) {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    Path file = keyFile(directory, node);
    try {
      Files.writeString(file, node + "-1 " + Base64.getEncoder().encodeToString(key) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> options = new ArrayList<>(access.options(node));
    options.addAll(List.of("--data-key-file", file.toString()));
    return options;
  }

  @Override
  public String administrator() {
    return access.administrator();
  }

  @Override
  public String client(int number) {
    return access.client(number);
  }

  @Override
  public void admitClients(Connection administrator) throws SQLException {
    access.admitClients(administrator);
  }

  @Override
  public Optional<String> obstacleToRotation() {
    return access.obstacleToRotation();
  }

  @Override
  public void replaceCertificates() throws IOException, InterruptedException {
    access.replaceCertificates();
  }

  @Override
  public void awaitCertificate(Node node) throws IOException, InterruptedException {
    access.awaitCertificate(node);
  }

  @Override
  public boolean isAudited() {
    return access.isAudited();
  }
}
