package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.LDAPSearchException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import com.unboundid.ldap.sdk.extensions.StartTLSExtendedRequest;
import com.unboundid.util.ssl.SSLSocketVerifier;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * A connection to one server of a directory, which has shown by TLS who it is. Follows no referral.
 * One thread at a time.
 */
final class DirectoryLink implements AutoCloseable {
  /** The directory does not let this node search. */
  static final class NoSearchException extends LDAPException {
    private static final long serialVersionUID = 1L;

    NoSearchException(LDAPException cause) {
      super(
          cause.getResultCode(),
          "it refuses the search for a user, or the DN or the password to search as: "
              + cause.getMessage(),
          cause);
    }
  }

  /** What a directory answers about a user and a password; everything else is about itself. */
  private static final Set<ResultCode> NO =
      Set.of(
          ResultCode.INVALID_CREDENTIALS,
          ResultCode.NO_SUCH_OBJECT,
          ResultCode.INVALID_DN_SYNTAX,
          ResultCode.INAPPROPRIATE_AUTHENTICATION,
          ResultCode.INSUFFICIENT_ACCESS_RIGHTS,
          ResultCode.UNWILLING_TO_PERFORM,
          ResultCode.CONSTRAINT_VIOLATION);

  /** Most bytes of a message of the directory. */
  private static final int MOST_MESSAGE_BYTES = 1 << 20;

  /** One more than may be found. */
  private static final int MOST_FOUND = 2;

  private final LDAPConnection connection;
  private final LongSupplier nanos;
  private final long endNanos;

  private DirectoryLink(LDAPConnection connection, LongSupplier nanos, long endNanos) {
    this.connection = requireNonNull(connection, "connection");
    this.nanos = requireNonNull(nanos, "nanos");
    this.endNanos = endNanos;
  }

  /**
   * Connects.
   *
   * @param tls what makes connections to servers with trusted certificates
   * @param sockets is told of each socket before it connects
   * @param within how long all that is done with the connection may take
   */
  static DirectoryLink open(
      URI server, SSLSocketFactory tls, OpenSockets sockets, LongSupplier nanos, Duration within)
      throws LDAPException {
    int millis = (int) Math.max(1, within.toMillis());
    String host = bare(server.getHost());
    boolean secure = DirectorySettings.SECURE.equals(server.getScheme());
    DirectorySockets encrypted = new DirectorySockets(tls, host, sockets, millis);
    DirectoryLink link =
        new DirectoryLink(
            new LDAPConnection(secure ? encrypted : encrypted.plain(), options(millis)),
            nanos,
            nanos.getAsLong() + within.toNanos());
    try {
      link.connection.connect(host, DirectorySettings.port(server), millis);
      if (!secure) {
        StartTLSExtendedRequest request = new StartTLSExtendedRequest(encrypted);
        request.setResponseTimeoutMillis(link.leftMillis());
        link.connection.processExtendedOperation(request);
      }
      link.requireTls();
      return link;
    } catch (LDAPException | RuntimeException e) {
      link.close();
      throw e;
    }
  }

  /** The address of an IPv6 host stands in brackets in a URL. */
  private static String bare(String host) {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static LDAPConnectionOptions options(int millis) {
    LDAPConnectionOptions options = new LDAPConnectionOptions();
    options.setUseSynchronousMode(true);
    options.setConnectTimeoutMillis(millis);
    options.setResponseTimeoutMillis(millis);
    options.setAbandonOnTimeout(false);
    options.setFollowReferrals(false);
    options.setBindWithDNRequiresPassword(true);
    options.setUseSchema(false);
    options.setMaxMessageSize(MOST_MESSAGE_BYTES);
    // the end of the time of a check closes the socket, and must not wait for it
    options.setUseLinger(false, 0);
    options.setSSLSocketVerifier(
        new SSLSocketVerifier() {
          @Override
          public void verifySSLSocket(String host, int port, SSLSocket socket)
              throws LDAPException {
            requireHandshake(socket);
          }
        });
    return options;
  }

  /** The handshake compares the name; here it has to have been done. */
  private static void requireHandshake(SSLSocket socket) throws LDAPException {
    try {
      var unused = socket.getSession().getPeerCertificates();
    } catch (SSLPeerUnverifiedException e) {
      throw new LDAPException(
          ResultCode.CONNECT_ERROR, "the server has not shown by TLS who it is", e);
    }
  }

  private void requireTls() throws LDAPException {
    if (connection.getSSLSession() == null) {
      throw new LDAPException(ResultCode.CONNECT_ERROR, "the connection has no TLS");
    }
  }

  private long leftMillis() throws LDAPException {
    long left = Duration.ofNanos(endNanos - nanos.getAsLong()).toMillis();
    if (left <= 0) {
      throw new LDAPException(ResultCode.TIMEOUT, "the directory takes too long");
    }
    return left;
  }

  /**
   * Returns true if a password is that of an entry that may log in.
   *
   * @throws LDAPException if the directory says nothing of the entry and the password
   */
  boolean accepts(String name, String password) throws LDAPException {
    try {
      bind(name, password);
      return true;
    } catch (LDAPException e) {
      if (NO.contains(e.getResultCode())) {
        return false;
      }
      throw e;
    }
  }

  private void bind(String name, String password) throws LDAPException {
    if (name.isEmpty() || password.isEmpty()) {
      // RFC 4513, 5.1.2: the directory would take it for nobody, and say yes
      throw new LDAPException(ResultCode.INVALID_CREDENTIALS, "a login without a name or password");
    }
    SimpleBindRequest request = new SimpleBindRequest(name, password);
    request.setResponseTimeoutMillis(leftMillis());
    connection.bind(request);
  }

  /** Binds as the entry that may search. */
  void bindToSearch(String name, String password) throws LDAPException {
    try {
      bind(name, password);
    } catch (LDAPException e) {
      throw e.getResultCode().isClientSideResultCode() ? e : new NoSearchException(e);
    }
  }

  /** Finds entries, two at most: references to other servers are none. */
  List<SearchResultEntry> search(SearchRequest request) throws LDAPException {
    request.setSizeLimit(MOST_FOUND);
    request.setResponseTimeoutMillis(leftMillis());
    try {
      return connection.search(request).getSearchEntries();
    } catch (LDAPSearchException e) {
      if (e.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED)) {
        return e.getSearchEntries();
      }
      throw e.getResultCode().isClientSideResultCode() ? e : new NoSearchException(e);
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
