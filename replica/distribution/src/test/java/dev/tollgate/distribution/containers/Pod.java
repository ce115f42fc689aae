package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What a kubelet does with one pod: it asks its probes, starts its container again, and stops it
 * with the hook, SIGTERM, and SIGKILL once the grace period is over.
 */
final class Pod {
  /** After the end of a container; twice as long after each further end. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(10);

  private static final int MOST_DOUBLINGS = 5;

  /** What a container still has between SIGTERM and SIGKILL if its hook took all of its time. */
  private static final Duration LEAST_GRACE = Duration.ofSeconds(2);

  private static final Duration SIGNAL = Duration.ofSeconds(30);

  private final String name;
  private final String address;
  private final String container;
  private final PodTemplate template;
  private final Path log;
  private final long createdNanos = System.nanoTime();
  private final List<String> events = new ArrayList<>();
  private final List<ScheduledFuture<?>> probes = new ArrayList<>();
  private final ScheduledExecutorService kubelet = Executors.newScheduledThreadPool(4);
  private Optional<Long> readySinceNanos = Optional.empty();
  private boolean terminating;
  private int restarts;

  /**
   * How a container was stopped.
   *
   * @param hook the status of the hook; empty if it did not end within the grace period
   * @param hookMillis how long it took
   * @param hookOut what it printed
   * @param status of the container
   * @param millis from the order to the end
   */
  record Stopped(Optional<Integer> hook, long hookMillis, String hookOut, int status, long millis) {
    @Override
    public String toString() {
      return String.format(
          "the hook ended with %s after %d ms, the container with status %d after %d ms",
          hook.map(String::valueOf).orElse("nothing"), hookMillis, status, millis);
    }
  }

  /**
   * Starts it.
   *
   * @param where options for its names and networks
   * @param toRun options, image and arguments
   * @param log the file that gets what the container has written
   */
  Pod(
      String name,
      String address,
      String container,
      PodTemplate template,
      List<String> where,
      List<String> toRun,
      Path log) {
    this.name = name;
    this.address = address;
    this.container = container;
    this.template = template;
    this.log = log;
    List<String> run = new ArrayList<>(List.of("run", "--detach", "--name=" + container));
    run.addAll(where);
    run.addAll(toRun);
    Docker.run(run);
    started();
  }

  String name() {
    return name;
  }

  /** The name that the engine has for its container. */
  String container() {
    return container;
  }

  String address() {
    return address;
  }

  long ageMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - createdNanos);
  }

  synchronized boolean isReady() {
    return readySinceNanos.isPresent();
  }

  /** True if it has been ready for so long without a break. */
  synchronized boolean isReadyFor(Duration time) {
    return readySinceNanos.filter(since -> System.nanoTime() - since >= time.toNanos()).isPresent();
  }

  /** From the creation of the pod until it was ready. */
  synchronized long millisUntilReady() {
    return TimeUnit.NANOSECONDS.toMillis(readySinceNanos.orElseThrow() - createdNanos);
  }

  synchronized int restarts() {
    return restarts;
  }

  synchronized List<String> events() {
    return List.copyOf(events);
  }

  private synchronized void event(String what) {
    events.add(String.format("%s after %d ms: %s", name, ageMillis(), what));
  }

  private synchronized void started() {
    kubelet.execute(this::awaitEnd);
    ask(template.startup(), this::startupSucceeded, failure -> stopToRestart("startup", failure));
  }

  private synchronized void startupSucceeded() {
    if (terminating) {
      return;
    }
    stopProbes();
    event("has started");
    ask(template.liveness(), () -> {}, failure -> stopToRestart("liveness", failure));
    ask(template.readiness(), this::ready, this::notReady);
  }

  private synchronized void ready() {
    if (readySinceNanos.isEmpty()) {
      readySinceNanos = Optional.of(System.nanoTime());
      event("is ready");
    }
  }

  private synchronized void notReady(String failure) {
    if (readySinceNanos.isPresent()) {
      readySinceNanos = Optional.empty();
      event("is not ready: " + failure);
    }
  }

  /** A kubelet does what a probe that is not there would have it do. */
  private void ask(Optional<Probe> probe, Runnable good, Consumer<String> bad) {
    if (probe.isEmpty()) {
      good.run();
      return;
    }
    Probe asked = probe.get();
    int[] inARow = new int[2];
    probes.add(
        kubelet.scheduleAtFixedRate(
            () -> {
              Optional<String> failure = asked.ask(address);
              inARow[0] = failure.isEmpty() ? inARow[0] + 1 : 0;
              inARow[1] = failure.isPresent() ? inARow[1] + 1 : 0;
              if (inARow[0] >= asked.successes()) {
                good.run();
              }
              if (inARow[1] >= asked.failures()) {
                bad.accept(failure.orElseThrow());
              }
            },
            asked.delay().toMillis(),
            asked.period().toMillis(),
            TimeUnit.MILLISECONDS));
  }

  private synchronized void stopProbes() {
    probes.forEach(probe -> probe.cancel(false));
    probes.clear();
  }

  private void stopToRestart(String probe, String failure) {
    synchronized (this) {
      if (terminating) {
        return;
      }
      stopProbes();
      notReady(failure);
    }
    event("is stopped by its " + probe + " probe: " + failure);
    Stopped stopped = stop(Duration.ofSeconds(template.graceSeconds()));
    event("was stopped: " + stopped);
  }

  private void awaitEnd() {
    String status = Docker.run("wait", container);
    synchronized (this) {
      notReady("its container ended with status " + status);
      if (terminating) {
        return;
      }
      event("its container ended with status " + status);
      stopProbes();
      var unused =
          kubelet.schedule(
              this::restart,
              FIRST_PAUSE.toMillis() << Math.min(restarts, MOST_DOUBLINGS),
              TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void restart() {
    if (!terminating) {
      restarts++;
      Docker.run("start", container);
      started();
    }
  }

  /** Has the process of the container end as if it had failed. */
  void kill() {
    signal("KILL");
  }

  /** Does nothing if the container has ended meanwhile. */
  private void signal(String signal) {
    Docker.run(SIGNAL, List.of("kill", "--signal=" + signal, container));
  }

  /** Ends it for good, as the deletion of a pod does. */
  Stopped delete(Duration grace) throws IOException {
    synchronized (this) {
      terminating = true;
      stopProbes();
    }
    Stopped stopped = stop(grace);
    event("was deleted: " + stopped);
    remove();
    return stopped;
  }

  Stopped delete() throws IOException {
    return delete(Duration.ofSeconds(template.graceSeconds()));
  }

  private Stopped stop(Duration grace) {
    long start = System.nanoTime();
    Docker.Ended hook = new Docker.Ended(Optional.of(0), "");
    if (!template.hook().isEmpty() && !grace.isZero()) {
      List<String> exec = new ArrayList<>(List.of("exec", container));
      exec.addAll(template.hook());
      hook = Docker.run(grace, exec);
    }
    Duration hookTime = Duration.ofNanos(System.nanoTime() - start);
    Duration left = grace.minus(hookTime);
    Duration term = left.compareTo(LEAST_GRACE) < 0 ? LEAST_GRACE : left;
    if (!grace.isZero() && isRunning()) {
      signal("TERM");
      Docker.run(term, List.of("wait", container));
    }
    if (isRunning()) {
      event("does not end within its grace period of " + grace.toSeconds() + " s");
      signal("KILL");
    }
    int status = Integer.parseInt(Docker.run("wait", container));
    return new Stopped(
        hook.status(),
        hookTime.toMillis(),
        hook.out().strip(),
        status,
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
  }

  private boolean isRunning() {
    return Docker.run("inspect", "--format={{.State.Running}}", container).equals("true");
  }

  /** Removes the container without further ado, and keeps what it has written. */
  void remove() throws IOException {
    synchronized (this) {
      terminating = true;
      stopProbes();
    }
    Files.writeString(log, Docker.run("logs", container));
    Docker.run("rm", "--force", container);
    kubelet.shutdownNow();
  }
}
