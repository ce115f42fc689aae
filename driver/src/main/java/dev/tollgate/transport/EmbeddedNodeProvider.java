package dev.tollgate.transport;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Starts nodes in this JVM, for URLs of the kinds {@code jdbc:tollgate:embedded:DIR} and {@code
 * jdbc:tollgate:mem:NAME}. {@link java.util.ServiceLoader} finds the provider; the artifact
 * dev.tollgate:tollgate-embedded contains one.
 */
public interface EmbeddedNodeProvider {
  /**
   * Starts a node that is a cluster of its own and keeps its data.
   *
   * @param directory absolute; created if it does not exist
   * @param dataKeyFile file with the keys that encrypt the directory; null for a directory that is
   *     not encrypted
   * @throws IOException if the data cannot be read, or another process uses the directory
   */
  EmbeddedNode open(Path directory, @Nullable Path dataKeyFile) throws IOException;

  /**
   * Starts a node that is a cluster of its own and forgets its data when it closes.
   *
   * @param name for threads and messages; the caller keeps one node per name
   */
  EmbeddedNode openInMemory(String name) throws IOException;
}
