package dev.tollgate.cli;

import dev.tollgate.cli.lock.GuardedCommand;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a command under a lock of the cluster, as flock(1) does under a lock of one machine. */
@Command(
    name = "lock",
    customSynopsis = "tollgate lock [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
    description = {
      "Runs a command while this program holds a lock of the cluster.",
      "The command and all that it has started end with the lock, and the lock ends with the"
          + " command. The command finds the name of the lock in TOLLGATE_LOCK, and its fencing token"
          + " in TOLLGATE_TOKEN."
    },
    exitCodeListHeading = "Exit status:%n",
    exitCodeList = {
      "  n:of the command; 128 and the number of a signal that ended it",
      "  1:others hold the lock (--conflict-exit-code)",
      "  2:the command line is wrong",
      "124:the lock was lost, and the command was ended",
      "125:the cluster did not answer, or refused the lock",
      "126:the command cannot be executed",
      "127:there is no such command"
    },
    mixinStandardHelpOptions = true)
final class LockCommand implements Callable<Integer> {
  /** As timeout(1) ends when the time is over. */
  static final int LOST = 124;

  /** As env(1), nohup(1) and timeout(1) end when they fail themselves. */
  static final int FAILED = 125;

  static final int NOT_EXECUTABLE = 126;
  static final int NOT_FOUND = 127;

  private static final int MOST_EXIT_CODE = 255;

  /** A part of the ttl: in the rest of it, heartbeats may fail without harm to the command. */
  private static final int GRACES_IN_TTL = 4;

  /** What releasing the lock takes at most when the program is asked to end. */
  private static final Duration RELEASE = Duration.ofSeconds(15);

  @Spec private CommandSpec spec;

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-w", "--wait"},
      paramLabel = "DURATION",
      converter = DurationText.class,
      description =
          "Wait in line for at most this long: 500ms, 30s, 5m. Default: for as long as it takes.")
  private @Nullable Duration wait;

  @Option(
      names = {"-n", "--nonblock"},
      description = "Do not wait.")
  private boolean nonblock;

  @Option(
      names = {"-s", "--shared"},
      description = "Hold the lock together with other shared holders.")
  private boolean shared;

  @Option(
      names = {"-E", "--conflict-exit-code"},
      paramLabel = "NUMBER",
      defaultValue = "1",
      description = "Exit status if others hold the lock. Default: 1")
  private int conflict;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      defaultValue = "15s",
      converter = DurationText.class,
      description =
          "How long the lock outlives this program if it dies, and about how long it may be cut off"
              + " from the cluster before the command is ended. Default: 15s")
  private Duration ttl;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      converter = DurationText.class,
      description =
          "Time between SIGTERM and SIGKILL, at most half of --ttl. Default: a quarter of --ttl")
  private @Nullable Duration grace;

  @Option(
      names = "--owner",
      description = "Shown to operators as OWNER in TOLLGATE.LOCKS. Default: the command's name")
  private @Nullable String owner;

  @Option(
      names = {"-v", "--verbose"},
      description = "Say on standard error when the lock is awaited, granted and released.")
  private boolean verbose;

  @Parameters(index = "0", paramLabel = "NAME", description = "The name of the lock.")
  private String name;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments; -- has to come before it.")
  private List<String> command;

  LockCommand() {}

  @Override
  public Integer call() {
    requireSense();
    Thread caller = Thread.currentThread();
    CountDownLatch done = new CountDownLatch(1);
    Thread stop = new Thread(() -> stop(caller, done), "tollgate-lock-stops");
    Runtime.getRuntime().addShutdownHook(stop);
    try {
      return run();
    } catch (InterruptedException e) {
      // a signal ends this program, with a status that says so
      return FAILED;
    } finally {
      done.countDown();
      forget(stop);
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // this program is about to end
    }
  }

  /** Lets the program end after a signal once its command has ended and its lock is released. */
  private void stop(Thread caller, CountDownLatch done) {
    caller.interrupt();
    try {
      done.await(graceTime().plus(RELEASE).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int run() throws InterruptedException {
    LockOptions options = options();
    try (LockClient client = connect()) {
      say("awaits lock '" + name + "'");
      Optional<HeldLock> granted = acquire(client, options);
      if (granted.isEmpty()) {
        say("others hold lock '" + name + "'");
        return conflict;
      }
      try (HeldLock lock = granted.get()) {
        say("holds " + lock);
        return run(lock);
      } finally {
        say("has released lock '" + name + "'");
      }
    } catch (LockException e) {
      return failed(FAILED, "lock '" + name + "' is not held: " + e.getMessage());
    }
  }

  private LockClient connect() {
    try {
      return LockClient.connect(cluster.url(), cluster.properties());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--url: " + e.getMessage(), e);
    }
  }

  private Optional<HeldLock> acquire(LockClient client, LockOptions options)
      throws InterruptedException {
    try {
      if (nonblock) {
        return client.tryAcquire(name, options);
      }
      Duration longest = wait;
      return longest == null
          ? Optional.of(client.acquire(name, options))
          : client.tryAcquire(name, options.waitFor(longest));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private int run(HeldLock lock) {
    GuardedCommand.Result result;
    try {
      result = new GuardedCommand(lock, command, graceTime(), System.err).run();
    } catch (IOException e) {
      String why = e.getMessage() == null ? e.toString() : e.getMessage();
      // error=2 is ENOENT, which Java does not tell in another way
      return failed(why.contains("error=2,") ? NOT_FOUND : NOT_EXECUTABLE, why);
    }
    return result.end() == GuardedCommand.End.LOCK_LOST ? LOST : result.status();
  }

  private int failed(int status, String why) {
    spec.commandLine().getErr().println("tollgate lock: " + why);
    return status;
  }

  private void say(String what) {
    if (verbose) {
      spec.commandLine().getErr().println("tollgate lock: " + what);
    }
  }

  private LockOptions options() {
    try {
      LockOptions options = LockOptions.DEFAULT.ttl(ttl).owner(owner == null ? program() : owner);
      return shared ? options.shared() : options;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /**
   * The name of the command without its directory, and without its arguments: they may be secret.
   */
  private String program() {
    String path = command.get(0);
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private Duration graceTime() {
    return grace == null ? ttl.dividedBy(GRACES_IN_TTL) : grace;
  }

  /** Without the two dashes, options of the command could be taken for options of this program. */
  private void requireDashes() {
    List<String> all = spec.commandLine().getParseResult().originalArgs();
    int dashes = all.indexOf("--");
    require(
        dashes >= 0 && all.size() - dashes - 1 == command.size(),
        "write -- before the command: tollgate lock " + name + " -- " + command.get(0) + " ...");
  }

  private void requireSense() {
    requireDashes();
    require(!(nonblock && wait != null), "--nonblock and --wait exclude each other");
    require(
        graceTime().multipliedBy(2).compareTo(ttl) <= 0,
        String.format(
            Locale.ROOT,
            "--grace is %s: it has to be at most half of --ttl, which is %s",
            DurationText.of(graceTime()),
            DurationText.of(ttl)));
    require(
        conflict >= 0 && conflict <= MOST_EXIT_CODE,
        "--conflict-exit-code is " + conflict + ": it has to be from 0 to " + MOST_EXIT_CODE);
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }
}
