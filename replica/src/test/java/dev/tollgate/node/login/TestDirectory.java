package dev.tollgate.node.login;

import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.ldap.listener.interceptor.InMemoryInterceptedSimpleBindRequest;
import com.unboundid.ldap.listener.interceptor.InMemoryOperationInterceptor;
import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.RDN;
import com.unboundid.ldap.sdk.ResultCode;
import dev.tollgate.tls.TestCertificates;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A directory on this host, which speaks LDAPS, and LDAP with StartTLS. */
public final class TestDirectory implements AutoCloseable {
  public static final String PEOPLE = "ou=people,dc=example,dc=org";
  static final String SEARCHER = "cn=searcher,dc=example,dc=org";
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final String SECURE = "ldaps";
  private static final String STARTS_TLS = "ldap";
  private static final String BARE = "bare";

  private final InMemoryDirectoryServer server;

  /** The names with which clients have tried to bind, in order. */
  public final List<String> binds = new CopyOnWriteArrayList<>();

  /** If not null, binds are answered with this. */
  volatile ResultCode answer;

  /** While not null, binds wait for it. */
  public volatile CountDownLatch held;

  public TestDirectory(TestCertificates certificates, Path directory) throws Exception {
    this(certificates, directory, "127.0.0.1", "localhost");
  }

  /**
   * @param names of the server in its certificate
   */
  TestDirectory(TestCertificates certificates, Path directory, String... names) throws Exception {
    Path store = directory.resolve("directory-" + names[0] + ".p12");
    TestCertificates.writeStore(
        store,
        certificates.authority.node("directory", List.of(names), TestCertificates.now()),
        certificates.authority,
        PASSWORD);
    SSLContext context = context(store);
    InetAddress here = InetAddress.getLoopbackAddress();
    InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("dc=example,dc=org");
    config.setSchema(null);
    config.setListenerConfigs(
        InMemoryListenerConfig.createLDAPSConfig(
            SECURE, here, 0, context.getServerSocketFactory(), context.getSocketFactory()),
        InMemoryListenerConfig.createLDAPConfig(STARTS_TLS, here, 0, context.getSocketFactory()),
        InMemoryListenerConfig.createLDAPConfig(BARE, here, 0, null));
    config.addAdditionalBindCredentials(SEARCHER, "find them");
    config.addInMemoryOperationInterceptor(new Binds());
    server = new InMemoryDirectoryServer(config);
    server.add(new Entry("dc=example,dc=org"));
    server.add(new Entry(PEOPLE));
    server.startListening();
  }

  private final class Binds extends InMemoryOperationInterceptor {
    @Override
    public void processSimpleBindRequest(InMemoryInterceptedSimpleBindRequest request)
        throws LDAPException {
      binds.add(request.getRequest().getBindDN());
      CountDownLatch latch = held;
      if (latch != null) {
        try {
          latch.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      ResultCode code = answer;
      if (code != null) {
        throw new LDAPException(
            code, "as the test wants", null, new String[] {"ldap://127.0.0.1:1/"});
      }
    }
  }

  private static SSLContext context(Path file) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** Adds an entry uid=name below {@link #PEOPLE}. */
  public void add(String name, String password) throws LDAPException {
    Entry entry = new Entry(new DN(new RDN("uid", name), new DN(PEOPLE)).toString());
    entry.addAttribute("uid", name);
    entry.addAttribute("objectClass", "account");
    entry.addAttribute("userPassword", password);
    server.add(entry);
  }

  public void changePassword(String name, String password) throws Exception {
    server.modify(
        "dn: uid=" + name + "," + PEOPLE,
        "changetype: modify",
        "replace: userPassword",
        "userPassword: " + password);
  }

  public URI secure() {
    return URI.create("ldaps://127.0.0.1:" + server.getListenPort(SECURE));
  }

  URI secure(String host) {
    return URI.create("ldaps://" + host + ":" + server.getListenPort(SECURE));
  }

  public URI startsTls() {
    return URI.create("ldap://localhost:" + server.getListenPort(STARTS_TLS));
  }

  /** It has no TLS. */
  URI bare() {
    return URI.create("ldap://127.0.0.1:" + server.getListenPort(BARE));
  }

  @Override
  public void close() {
    CountDownLatch latch = held;
    if (latch != null) {
      latch.countDown();
    }
    server.shutDown(true);
  }
}
