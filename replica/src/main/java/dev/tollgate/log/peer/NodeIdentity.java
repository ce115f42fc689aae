package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.AlteredException;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.FileSeal;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.NotEncryptedException;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a data directory, in a file beside the log: node, incarnation, cluster, and
 * whether the cluster has removed the node. The incarnation is drawn when the file is created, so
 * an emptied directory is another incarnation. Thread-safe.
 *
 * <p>In a directory with data keys the file is sealed, and the seal says that the directory is:
 * what is sealed in it is bound to the incarnation (ADR 0129).
 *
 * <p>The file also keeps what the replicated state says of the other nodes. A node that has just
 * started has applied nothing, and yet must know which votes may elect it.
 */
public final class NodeIdentity {
  public static final String FILE = "identity";

  private static final String NODE = "node";
  private static final String INCARNATION = "incarnation";
  private static final String LOG_INDEX = "log-index";
  private static final String ENTRY = "had-entry";
  private static final String REMOVED = "this-node-was-removed";

  /** Stands in place of the node until the first start; no node has such a name. */
  private static final String NEW = "";

  private final Path data;
  private final String nodeId;
  private final UniqueId incarnation;
  private final DataKeys keys;
  private volatile @Nullable String keyOfFile;
  private volatile ClusterIdentity known = ClusterIdentity.NONE;
  private volatile ClusterIdentity written = ClusterIdentity.NONE;
  private final CompletableFuture<Void> named = new CompletableFuture<>();
  private long knownIndex;
  private long notedIndex;
  private boolean removed;
  private volatile @Nullable String adminUrl;

  private NodeIdentity(Path data, String nodeId, UniqueId incarnation, DataKeys keys) {
    this.keys = keys;
    this.data = data;
    this.nodeId = nodeId;
    this.incarnation = incarnation;
  }

  /**
   * Reads the file, or creates it for a node that has no log yet.
   *
   * @param log where the directory has the log, once the node has been in a cluster
   * @param keys with which the directory is encrypted
   * @throws KeyMissingException if the directory is encrypted, and this process lacks the key
   * @throws NotEncryptedException if there are keys, and the directory is not encrypted
   * @throws RemovedException if the cluster has removed this node
   * @throws StrangerException if the directory is another node's, or has lost its log
   */
  public static NodeIdentity open(Path data, String nodeId, Path log, DataKeys keys)
      throws IOException {
    Path file = data.resolve(FILE);
    if (!Files.exists(file)) {
      if (hasEntries(log)) {
        throw StrangerException.withoutIdentity(nodeId, file + " is missing");
      }
      PrivateFiles.createDirectories(data);
      return fresh(data, nodeId, keys);
    }
    NodeIdentity known = readWhole(data, nodeId, keys);
    if (known.removed) {
      throw new RemovedException(nodeId);
    }
    if (known.clusterId() != null && !Files.exists(log)) {
      throw StrangerException.withoutLog(nodeId, data);
    }
    return known;
  }

  private static NodeIdentity fresh(Path data, String nodeId, DataKeys keys) throws IOException {
    NodeIdentity fresh = new NodeIdentity(data, nodeId, draw(), keys);
    fresh.write();
    return fresh;
  }

  /**
   * Creates the file of a directory that some node will be started with.
   *
   * @return the keys with which its files are to be sealed
   */
  public static DirectoryKeys prepare(Path data, DataKeys keys) throws IOException {
    return fresh(data, NEW, keys).directoryKeys();
  }

  /**
   * Reads the file of a node that does not run and whose data is to be replaced. The file may be
   * one that is not sealed yet, though there are keys.
   *
   * @throws KeyMissingException if it is sealed, and this process lacks the key
   */
  public static NodeIdentity ofReplaced(Path data, String nodeId, DataKeys keys)
      throws IOException {
    Path file = data.resolve(FILE);
    if (!Files.exists(file)) {
      throw StrangerException.withoutIdentity(nodeId, file + " is missing");
    }
    if (FileSeal.keyOf(file).isPresent()) {
      return readWhole(data, nodeId, keys);
    }
    NodeIdentity clear = readWhole(data, nodeId, DataKeys.off());
    NodeIdentity sealing = new NodeIdentity(data, nodeId, clear.incarnation, keys);
    sealing.known = clear.known;
    sealing.written = clear.written;
    sealing.knownIndex = clear.knownIndex;
    sealing.notedIndex = clear.notedIndex;
    sealing.removed = clear.removed;
    return sealing;
  }

  private static NodeIdentity readWhole(Path data, String nodeId, DataKeys keys)
      throws IOException {
    try {
      return read(data, nodeId, keys);
    } catch (DamagedFileException | AlteredException e) {
      throw StrangerException.withoutIdentity(nodeId, String.valueOf(e.getMessage()));
    }
  }

  /** True if the log has more than the snapshot of a directory that was restored from a backup. */
  private static boolean hasEntries(Path log) throws IOException {
    Path current = log.resolve("current");
    return Files.isDirectory(current) && !Snapshots.segments(current).isEmpty();
  }

  /**
   * Returns the name of the node that owns this directory, or null if the directory does not say.
   *
   * @throws KeyMissingException if the directory is encrypted, and this process lacks the key
   */
  public static @Nullable String owner(Path data, DataKeys keys) throws IOException {
    Path file = data.resolve(FILE);
    String owner = Files.exists(file) ? properties(file, keys).getProperty(NODE) : null;
    return NEW.equals(owner) ? null : owner;
  }

  private static Properties properties(Path file, DataKeys keys) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(WholeFile.read(file, keys, FILE)));
    return properties;
  }

  private static NodeIdentity read(Path data, String nodeId, DataKeys keys) throws IOException {
    Path file = data.resolve(FILE);
    Properties properties = properties(file, keys);
    String owner = properties.getProperty(NODE);
    UniqueId incarnation = IdentityProperties.id(file, properties.getProperty(INCARNATION));
    if (owner == null || incarnation == null) {
      throw new IOException(file + " is damaged: it does not say whose directory this is");
    }
    if (!owner.equals(nodeId) && !owner.equals(NEW)) {
      throw StrangerException.ofAnotherNode(nodeId, data, owner);
    }
    NodeIdentity known = new NodeIdentity(data, nodeId, incarnation, keys);
    known.keyOfFile = FileSeal.keyOf(file).orElse(null);
    known.known = IdentityProperties.read(file, properties);
    known.wrote(known.known);
    known.knownIndex = Long.parseLong(properties.getProperty(LOG_INDEX, "0"));
    known.notedIndex = Long.parseLong(properties.getProperty(ENTRY, "0"));
    known.removed = Boolean.parseBoolean(properties.getProperty(REMOVED));
    if (owner.equals(NEW)) {
      known.write();
    }
    return known;
  }

  public static UniqueId draw() {
    UUID id = UUID.randomUUID();
    return new UniqueId(id.getMostSignificantBits(), id.getLeastSignificantBits());
  }

  public String nodeId() {
    return nodeId;
  }

  /** Where this node serves its admin address; null if it serves none. Not in the file. */
  @Nullable String adminUrl() {
    return adminUrl;
  }

  /**
   * Has this node tell others from now on where it serves its admin address, if they can use it.
   */
  public void serveAdmin(String url) {
    adminUrl = AdminUrls.isValid(url) ? url : null;
  }

  public UniqueId incarnation() {
    return incarnation;
  }

  /** The data keys for the files of this directory. */
  public DirectoryKeys directoryKeys() {
    return new DirectoryKeys(keys, incarnation.toString());
  }

  /** The data key with which the file is sealed; null if it is not sealed. */
  public @Nullable String keyOfFile() {
    return keyOfFile;
  }

  /** Seals the file with the first data key, unless it is. */
  public synchronized void sealAgain() throws IOException {
    if (keys.isOn() && !keys.ids().get(0).equals(keyOfFile)) {
      write();
    }
  }

  /** Completes once the file has the key of the cluster, so that a later start has it too. */
  public CompletableFuture<Void> named() {
    return named.copy();
  }

  /** Null until this node has applied the entry that names the cluster. */
  public @Nullable UniqueId clusterId() {
    return known.clusterId();
  }

  /** True once the replicated state names this directory, and the file says so. */
  public boolean isKnown() {
    return incarnation.equals(written.incarnations().get(nodeId));
  }

  /** What the replicated state last said of the cluster and its nodes. */
  public ClusterIdentity known() {
    return known;
  }

  /**
   * Stores what the replicated state says, unless it is older than what is known.
   *
   * @param logIndex the entry after which the state says so
   * @throws StrangerException if the directory belongs to another cluster
   */
  public synchronized void learn(ClusterIdentity state, long logIndex) throws IOException {
    UniqueId own = known.clusterId();
    UniqueId other = state.clusterId();
    if (own != null && other != null && !own.equals(other)) {
      throw StrangerException.ofAnotherCluster(nodeId, data, own, other);
    }
    if (logIndex > knownIndex && !state.equals(known)) {
      known = state;
      knownIndex = logIndex;
      write();
      wrote(state);
    }
  }

  private void wrote(ClusterIdentity state) {
    written = state;
    if (state.key() != null) {
      named.complete(null);
    }
  }

  /**
   * Returns the last entry that this node is known to have had: it had applied the entry after
   * which the state said so, and acknowledged the one of {@link #noteEntry}. 0 if there is none.
   */
  public synchronized long hadIndex() {
    return Math.max(knownIndex, notedIndex);
  }

  /** Records that this node has had an entry. */
  public synchronized void noteEntry(long logIndex) throws IOException {
    if (logIndex > notedIndex) {
      notedIndex = logIndex;
      write();
    }
  }

  /** Records that the cluster has removed this node. */
  public synchronized void markRemoved() throws IOException {
    if (!removed) {
      removed = true;
      write();
    }
  }

  private void write() throws IOException {
    Path file = data.resolve(FILE);
    WholeFile.write(file, text(), keys, FILE);
    keyOfFile = FileSeal.keyOf(file).orElse(null);
  }

  private String text() throws IOException {
    Properties properties = new Properties();
    properties.setProperty(NODE, nodeId);
    properties.setProperty(INCARNATION, incarnation.toString());
    IdentityProperties.write(properties, known);
    properties.setProperty(LOG_INDEX, Long.toString(knownIndex));
    if (notedIndex > 0) {
      properties.setProperty(ENTRY, Long.toString(notedIndex));
    }
    if (removed) {
      properties.setProperty(REMOVED, "true");
    }
    StringWriter text = new StringWriter();
    properties.store(
        text, "Whose data directory this is. Never copy it to another node, and show it to nobody");
    return text.toString();
  }
}
