package dev.tollgate.transport;

import java.io.IOException;
import java.nio.file.Path;

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
   * @throws IOException if the data cannot be read, or another process uses the directory
   */
  EmbeddedNode open(Path directory) throws IOException;

  /**
   * Starts a node that is a cluster of its own and forgets its data when it closes.
   *
   * @param name for threads and messages; the caller keeps one node per name
   */
  EmbeddedNode openInMemory(String name) throws IOException;
}
