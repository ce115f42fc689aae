package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.Facts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The console: a page that shows the cluster, its locks and leases, and keeps itself up to date.
 * The page itself is in the folder console beside this class. Thread-safe.
 */
final class ConsolePage implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConsolePage.class);

  /** The page loads its own parts and nothing else, and no other page frames it. */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** Where the page is, at each node that has an admin address. */
  static final String PATH = "/console";

  private static final String JSON = "application/json";

  /** The files of the page, by their paths below /console/. */
  private static final List<String> FILES =
      List.of(
          "icon.svg",
          "console.css",
          "console.js",
          "confirm.js",
          "link.js",
          "lists.js",
          "locks.js",
          "text.js",
          "theme.js",
          "times.js",
          "views.js");

  /** Types by the ends of the names. */
  private static final Map<String, String> TYPES =
      Map.of(
          ".svg", "image/svg+xml",
          ".css", "text/css; charset=utf-8",
          ".js", "text/javascript; charset=utf-8");

  private final NodeParts node;
  private final Readiness readiness;
  private final ConsoleLimits limits;
  private final ConsoleFeed<ConsolePicture> feed;

  ConsolePage(NodeParts node, Readiness readiness, ConsoleLimits limits) {
    this.node = requireNonNull(node, "node");
    this.readiness = requireNonNull(readiness, "readiness");
    this.limits = requireNonNull(limits, "limits");
    this.feed =
        new ConsoleFeed<>(
            node.nodeId(), new ConsoleLook(node), limits, node.supervision(), this::lookFailed);
  }

  private void lookFailed(Throwable bug) {
    if (!node.replica().stopIfClassesAreLost(bug)) {
      LOG.error("{}: the console could not look at the state", node.nodeId(), bug);
    }
  }

  List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.add(file(PATH, "index.html", "text/html; charset=utf-8"));
    for (String name : FILES) {
      String type = requireNonNull(TYPES.get(name.substring(name.lastIndexOf('.'))), name);
      routes.add(file("/console/" + name, name, type));
    }
    routes.add(new Route("GET", "/console/state", Audience.USERS, this::state));
    routes.add(new Route("GET", "/console/events", Audience.USERS, this::events));
    routes.addAll(new ConsoleChanges(node, limits).routes());
    return routes;
  }

  private static Route file(String path, String name, String type) {
    Answer answer = page(Answer.of(Answer.OK, type, content(name)));
    return new Route("GET", path, Audience.USERS, request -> answer);
  }

  private static Answer page(Answer answer) {
    return answer
        .with("Content-Security-Policy", POLICY)
        .with("Referrer-Policy", "no-referrer")
        .with("Cross-Origin-Opener-Policy", "same-origin")
        .with("Cross-Origin-Resource-Policy", "same-origin");
  }

  private static byte[] content(String name) {
    try (InputStream file = ConsolePage.class.getResourceAsStream("console/" + name)) {
      return requireNonNull(file, name).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The part of lock names that a request searches for, or null if the query is none. */
  private static @Nullable String search(AdminRequest request) {
    try {
      String search = ConsoleForm.decode(request.query()).getOrDefault("lock", "");
      return search.length() > Limits.LOCK_NAME_CHARS ? null : search;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static Answer badSearch() {
    return Answer.text(
        Answer.BAD_REQUEST,
        "the query has to be ?lock= and a part of a lock name, of at most "
            + Limits.LOCK_NAME_CHARS
            + " characters");
  }

  private String text(ConsolePicture picture, AdminRequest request, String search) {
    return new ConsoleView(
            new ConsoleView.Node(
                node.nodeId(),
                node.version(),
                node.timeKeeper()::remainingMillis,
                node.replica().facts().nodes(),
                readiness.obstacles()),
            picture,
            request.caller(),
            request.from(),
            search)
        .text();
  }

  private Answer state(AdminRequest request) {
    String search = search(request);
    if (search == null) {
      return badSearch();
    }
    UserName viewer = ConsoleView.viewer(request.caller());
    try (ConsoleFeed<ConsolePicture>.Watch watch = feed.glance(viewer)) {
      ConsoleFeed.Seen<ConsolePicture> seen =
          watch == null ? null : watch.next(0, System.nanoTime(), limits.patience());
      if (seen != null) {
        return Answer.of(
            Answer.OK,
            JSON,
            text(seen.picture(), request, search).getBytes(StandardCharsets.UTF_8));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Answer.text(Answer.UNAVAILABLE, "the node is busy with a log entry: try again later");
  }

  private Answer events(AdminRequest request) {
    String search = search(request);
    if (search == null) {
      return badSearch();
    }
    if (!feed.hasRoomFor(ConsoleView.viewer(request.caller()))) {
      return tooMany();
    }
    return Answer.stream("text/event-stream", out -> new Events(out, request, search).send());
  }

  private Answer tooMany() {
    return Answer.text(Answer.UNAVAILABLE, tooManyText());
  }

  private String tooManyText() {
    return limits.watchers()
        + " pages of the console are open, as many as this node keeps up to date, or "
        + limits.watchersPerUser()
        + " of one user: close one of them";
  }

  /** False once the user may no longer log in, or has become another kind of user. */
  private boolean isStillAdmitted(Caller caller) {
    Facts facts = node.replica().facts();
    UserName viewer = ConsoleView.viewer(caller);
    boolean known = caller.user() == null ? !facts.hasUsers() : facts.mayLogIn(viewer);
    return known && facts.duties(viewer).equals(caller.duties());
  }

  /** The events of one page. */
  private final class Events {
    private final OutputStream out;
    private final AdminRequest request;
    private final String search;
    private long number;
    private long notBeforeNanos = System.nanoTime();

    Events(OutputStream out, AdminRequest request, String search) {
      this.out = out;
      this.request = request;
      this.search = search;
    }

    void send() throws IOException {
      Caller caller = request.caller();
      try (ConsoleFeed<ConsolePicture>.Watch watch = feed.watch(ConsoleView.viewer(caller))) {
        if (watch == null) {
          write("event: refused\ndata: " + tooManyText() + "\n\n");
          return;
        }
        // the end of the login does not wait for the next picture
        request.presence().whenGone(watch::close);
        write("retry: 2000\n\n");
        long end = System.nanoTime() + limits.streamTime().toNanos();
        while (System.nanoTime() < end
            && !request.presence().isGone()
            && isStillAdmitted(caller)
            && !node.stopping().getAsBoolean()) {
          sendNext(watch);
        }
        // the page begins anew, and its user logs in again
        write("event: end\ndata: 1\n\n");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("the node stops, or the client is gone", e);
      }
    }

    private void sendNext(ConsoleFeed<ConsolePicture>.Watch watch)
        throws IOException, InterruptedException {
      ConsoleFeed.Seen<ConsolePicture> seen = watch.next(number, notBeforeNanos, limits.ping());
      if (feed.isClosed()) {
        throw new IOException("the node stops");
      }
      if (request.presence().isGone()) {
        return;
      }
      if (seen == null) {
        write("event: waiting\ndata: 1\n\n");
        return;
      }
      number = seen.number();
      long begin = System.nanoTime();
      String text = text(seen.picture(), request, search);
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      write("event: state\ndata: " + text + "\n\n");
      // many locks to search through: this page alone gets fewer pictures
      Duration own = ConsoleFeed.pause(took, Duration.ZERO);
      notBeforeNanos = System.nanoTime() + own.toNanos();
      Duration pause = own.compareTo(seen.pause()) > 0 ? own : seen.pause();
      if (pause.compareTo(limits.every()) > 0) {
        write("event: next\ndata: " + pause.toMillis() + "\n\n");
      }
    }

    private void write(String text) throws IOException {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
  }

  /** Ends what pages wait for. */
  @Override
  public void close() {
    feed.close();
  }
}
