package dev.tollgate.samples.torture.report;

import dev.tollgate.samples.torture.history.Action;
import dev.tollgate.samples.torture.history.Availability;
import dev.tollgate.samples.torture.history.Disturbance;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.Interruption;
import dev.tollgate.samples.torture.history.Operation;
import dev.tollgate.samples.torture.history.Outcome;
import dev.tollgate.samples.torture.history.Violation;
import dev.tollgate.samples.torture.report.Canvas.Anchor;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * All of a run's time in strips: what went wrong, whether the cluster answered, and the nodes. For
 * each register the strips show its holders one after another, with the waiting clients below.
 */
final class Timeline {
  private static final long STRIP_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
  private static final double LEFT = Report.MARGIN + 86;
  private static final double RIGHT = Report.WIDTH - Report.MARGIN;

  private static final double FAULT = 14;
  private static final double FAULT_LANE = 34;
  private static final double ANSWER_LANE = 18;
  private static final double NODE_LANE = 15;
  private static final double HOLD = 24;
  private static final double WAIT = 4;
  private static final double REFUSALS = 13;

  private final Tale tale;
  private final Evidence evidence;
  private final Canvas canvas;
  private final List<String> clients;
  private final List<String> resources;
  private final List<Hold> holds;
  private final List<Availability.Outage> outages;
  private final long endNanos;
  private long begin;
  private double y;

  Timeline(Tale tale, Canvas canvas) {
    this.tale = tale;
    this.evidence = tale.evidence();
    this.canvas = canvas;
    List<Operation> calls =
        evidence.operations().stream().filter(one -> one.action() != Action.PROBE).toList();
    this.clients =
        calls.stream()
            .map(Operation::client)
            .distinct()
            .sorted(Comparator.comparingInt(String::length).thenComparing(name -> name))
            .toList();
    this.resources = calls.stream().map(Operation::resource).distinct().sorted().toList();
    this.holds = Hold.of(evidence);
    this.outages = evidence.availability().outages();
    this.endNanos =
        evidence.operations().stream()
            .filter(Operation::hasReturned)
            .mapToLong(Operation::returnedNanos)
            .reduce(evidence.endNanos(), Math::max);
  }

  /** Draws the timeline from here on, and returns where it ends. */
  double draw(double top) {
    y = top + 16;
    legend();
    long first = evidence.operations().stream().mapToLong(Operation::invokedNanos).min().orElse(0);
    for (begin = first / 1_000_000_000L * 1_000_000_000L; begin < endNanos; begin += STRIP_NANOS) {
      strip();
    }
    return y;
  }

  private void legend() {
    double x = Report.MARGIN + 4;
    for (int i = 0; i < clients.size(); i++) {
      canvas.rectangle(x, y - 10, 22, 12, Canvas.fill(Palette.client(i)) + " rx=\"2\"", "");
      canvas.text(x + 28, y, 12, Anchor.START, Canvas.fill(Canvas.INK), clients.get(i));
      x += 60;
    }
    x = legend(x + 6, 136, "holds; number: token");
    canvas.line(x, y - 4, x + 22, y - 4, Canvas.stroke(Palette.client(0), 2.5), "");
    x = legend(x + 28, 52, "waits");
    canvas.rectangle(x, y - 10, 22, 12, Canvas.fill(Palette.client(0)), "");
    canvas.rectangle(x, y - 10, 22, 12, Canvas.fill("url(#stopped)"), "");
    x = legend(x + 28, 100, "client stopped");
    canvas.rectangle(x, y - 9, 22, 10, ghost(0), "");
    x = legend(x + 28, 136, "believes it still holds");
    canvas.cross(x + 6, y - 4, 3.5, Canvas.BAD, "");
    x = legend(x + 16, 160, "write refused: stale token");
    canvas.circle(x + 5, y - 4, 3.2, "fill=\"none\" " + Canvas.stroke(Canvas.BAD, 1.5), "");
    x = legend(x + 16, 116, "refused: no token");
    canvas.rectangle(x, y - 10, 22, 12, Canvas.fill(Palette.LEADER), "");
    x = legend(x + 28, 50, "leads");
    canvas.rectangle(x, y - 8, 22, 8, Canvas.fill(Canvas.BAD), "");
    legend(x + 28, 0, "no answer");
    y += 26;
  }

  private double legend(double x, double width, String text) {
    canvas.text(x, y, 12, Anchor.START, Canvas.fill(Canvas.INK), text);
    return x + width;
  }

  private static String ghost(int client) {
    return "fill=\"none\" stroke-dasharray=\"3 2\" " + Canvas.stroke(Palette.client(client), 1.4);
  }

  private double x(long nanos) {
    double share = (double) (nanos - begin) / STRIP_NANOS;
    return LEFT + Math.min(Math.max(share, 0), 1) * (RIGHT - LEFT);
  }

  private boolean isHere(long fromNanos, long untilNanos) {
    return fromNanos < begin + STRIP_NANOS && untilNanos >= begin;
  }

  private void strip() {
    double top = y;
    double height =
        FAULT_LANE
            + ANSWER_LANE
            + tale.nodes() * NODE_LANE
            + 10
            + resources.size() * (REFUSALS + HOLD + clients.size() * WAIT + 12);
    frame(top, height);
    y += 4;
    faults();
    answers();
    nodes();
    y += 10;
    for (String resource : resources) {
      register(resource);
    }
    for (Violation violation : tale.violations()) {
      if (isHere(violation.atNanos(), violation.atNanos())) {
        canvas.line(
            x(violation.atNanos()),
            top,
            x(violation.atNanos()),
            top + height,
            Canvas.stroke(Canvas.BAD, 1.5) + " stroke-dasharray=\"6 3\"",
            violation.text());
        canvas.text(
            x(violation.atNanos()) + 3,
            top + height - 3,
            13,
            Anchor.START,
            Canvas.fill(Canvas.BAD) + " font-weight=\"bold\"",
            "!");
      }
    }
    y = top + height + 40;
  }

  /** Draws the seconds, and a shade where a fault was in effect. */
  private void frame(double top, double height) {
    long last = Math.min(begin + STRIP_NANOS, endNanos);
    canvas.rectangle(
        LEFT,
        top,
        x(last) - LEFT,
        height,
        Canvas.fill("#ffffff") + " " + Canvas.stroke(Canvas.RULE, 1),
        "");
    for (Disturbance disturbance : evidence.disturbances()) {
      if (isHere(disturbance.fromNanos(), disturbance.healedNanos())) {
        canvas.rectangle(
            x(disturbance.fromNanos()),
            top,
            x(disturbance.healedNanos()) - x(disturbance.fromNanos()),
            height,
            Canvas.fill(Palette.fault(disturbance.kind())) + " fill-opacity=\"0.07\"",
            "");
      }
    }
    for (long at = begin; at <= last; at += TimeUnit.SECONDS.toNanos(1)) {
      boolean labelled = at / TimeUnit.SECONDS.toNanos(1) % 5 == 0;
      canvas.line(
          x(at),
          top,
          x(at),
          top + height + (labelled ? 5 : 0),
          Canvas.stroke(labelled ? "#cfccc3" : "#eeece6", labelled ? 1 : 0.6),
          "");
      if (labelled) {
        canvas.text(
            x(at),
            top + height + 17,
            11,
            Anchor.MIDDLE,
            Canvas.fill(Canvas.FAINT),
            at / TimeUnit.SECONDS.toNanos(1) + " s");
      }
    }
  }

  private void label(double height, String text) {
    canvas.text(LEFT - 10, y + height / 2 + 4, 12, Anchor.END, Canvas.fill(Canvas.INK), text);
  }

  /**
   * Draws a bar for each fault, and below the bar what it stands for, as far as there is room
   * before the next bar.
   */
  private void faults() {
    label(FAULT, "faults");
    List<Disturbance> all = evidence.disturbances();
    for (int i = 0; i < all.size(); i++) {
      Disturbance one = all.get(i);
      if (!isHere(one.fromNanos(), one.healedNanos())) {
        continue;
      }
      double from = x(one.fromNanos());
      double width = Math.max(2, x(one.healedNanos()) - from);
      String color = Palette.fault(one.kind());
      canvas.rectangle(from, y, width, FAULT, Canvas.fill(color) + " rx=\"2\"", one.detail());
      canvas.textWithin(from + 5, y + 10.5, width - 6, 10.5, Canvas.fill("#ffffff"), one.kind());
      double next = i + 1 < all.size() ? x(all.get(i + 1).fromNanos()) : RIGHT;
      canvas.textWithin(
          from + 1, y + FAULT + 11, next - from - 6, 10.5, Canvas.fill(color), one.detail());
    }
    y += FAULT_LANE;
  }

  private void answers() {
    label(8, "answers");
    long last = Math.min(begin + STRIP_NANOS, endNanos);
    canvas.rectangle(
        LEFT, y + 2, x(last) - LEFT, 5, Canvas.fill(Canvas.GOOD) + " fill-opacity=\"0.55\"", "");
    for (Availability.Outage outage : outages) {
      if (isHere(outage.fromNanos(), outage.untilNanos())) {
        double from = x(outage.fromNanos());
        double width = x(outage.untilNanos()) - from;
        String text = String.format(Locale.ROOT, "%.1f s", outage.nanos() / 1e9);
        canvas.rectangle(
            from, y, width, 12, Canvas.fill(Canvas.BAD) + " rx=\"2\"", "no answer for " + text);
        if (width > 26) {
          canvas.text(from + width / 2, y + 9.5, 10, Anchor.MIDDLE, Canvas.fill("#ffffff"), text);
        }
      }
    }
    y += ANSWER_LANE;
  }

  private void nodes() {
    for (int i = 1; i <= tale.nodes(); i++) {
      String name = "n" + i;
      label(NODE_LANE - 4, name);
      long last = Math.min(begin + STRIP_NANOS, endNanos);
      canvas.rectangle(LEFT, y + 1, x(last) - LEFT, NODE_LANE - 5, Canvas.fill(Palette.NODE), "");
      leads(name, last);
      for (Disturbance one : evidence.disturbances()) {
        if (one.nodes().contains(name) && isHere(one.fromNanos(), one.healedNanos())) {
          canvas.rectangle(
              x(one.fromNanos()),
              y + 4,
              x(one.healedNanos()) - x(one.fromNanos()),
              NODE_LANE - 8,
              Canvas.fill(Palette.fault(one.kind())),
              one.detail());
        }
      }
      y += NODE_LANE;
    }
  }

  private void leads(String name, long last) {
    for (int i = 0; i < tale.leaderships().size(); i++) {
      if (!tale.leaderships().get(i).node().equals(name)) {
        continue;
      }
      long from = tale.leaderships().get(i).fromNanos();
      long until =
          i + 1 < tale.leaderships().size() ? tale.leaderships().get(i + 1).fromNanos() : last;
      if (isHere(from, until)) {
        canvas.rectangle(
            x(from),
            y + 1,
            x(Math.min(until, last)) - x(from),
            NODE_LANE - 5,
            Canvas.fill(Palette.LEADER),
            name + " leads");
      }
    }
  }

  private void register(String resource) {
    y += REFUSALS;
    label(HOLD, resource);
    for (Hold hold : holds) {
      if (hold.resource().equals(resource)
          && isHere(hold.fromNanos(), Math.max(hold.untilNanos(), hold.believedNanos()))) {
        draw(hold);
      }
    }
    for (Operation one : evidence.operations()) {
      if (one.resource().equals(resource) && isHere(one.invokedNanos(), one.returnedNanos())) {
        draw(one);
      }
    }
    y += HOLD + 3 + clients.size() * WAIT + 9;
  }

  private void draw(Hold hold) {
    int client = clients.indexOf(hold.client());
    double from = x(hold.fromNanos());
    double width = Math.max(1.4, x(hold.untilNanos()) - from);
    String about =
        String.format(
            Locale.ROOT,
            "%s holds %s under %d, %.2f to %.2f s",
            hold.client(),
            hold.resource(),
            hold.token(),
            hold.fromNanos() / 1e9,
            hold.untilNanos() / 1e9);
    if (hold.believedNanos() > hold.untilNanos()) {
      double until = x(hold.untilNanos());
      canvas.rectangle(
          until,
          y - 5,
          Math.max(1.4, x(hold.believedNanos()) - until),
          5,
          ghost(client),
          hold.client() + " believes that it still holds " + hold.resource());
    }
    if (!isHere(hold.fromNanos(), hold.untilNanos())) {
      return;
    }
    canvas.rectangle(
        from, y, width, HOLD, Canvas.fill(Palette.client(client)) + " rx=\"1.5\"", about);
    for (Interruption one : evidence.interruptions()) {
      long stopped = Math.max(one.fromNanos(), hold.fromNanos());
      long resumed = Math.min(one.untilNanos(), hold.untilNanos());
      if (one.client().equals(hold.client())
          && one.cause() == Interruption.Cause.STOPPED
          && stopped < resumed
          && isHere(stopped, resumed)) {
        canvas.rectangle(
            x(stopped),
            y,
            x(resumed) - x(stopped),
            HOLD,
            Canvas.fill("url(#stopped)"),
            about + "; stopped");
      }
    }
    String token = Long.toString(hold.token());
    if (width > token.length() * 6.5 + 4) {
      canvas.text(
          from + 3,
          y + 11,
          10.5,
          Anchor.START,
          Canvas.fill("#ffffff") + " font-weight=\"bold\"",
          token);
    }
  }

  private void draw(Operation one) {
    int client = clients.indexOf(one.client());
    if (client < 0) {
      return;
    }
    if (one.is(Action.WRITE, Outcome.DONE) && isHere(one.returnedNanos(), one.returnedNanos())) {
      canvas.line(
          x(one.returnedNanos()),
          y + HOLD - 7,
          x(one.returnedNanos()),
          y + HOLD - 1,
          Canvas.stroke("#ffffff", 1.2),
          "");
    }
    if (one.is(Action.WRITE, Outcome.REFUSED) && isHere(one.returnedNanos(), one.returnedNanos())) {
      String about = one.client() + " was refused with " + one.state() + ", token " + one.token();
      if (one.token() == 0) {
        canvas.circle(
            x(one.returnedNanos()),
            y - 7,
            3.2,
            "fill=\"#ffffff\" fill-opacity=\"0.6\" " + Canvas.stroke(Canvas.BAD, 1.5),
            about);
      } else {
        canvas.cross(x(one.returnedNanos()), y - 7, 3.2, Canvas.BAD, about);
      }
    }
    long until = Math.min(one.returnedNanos(), endNanos);
    if (one.action() == Action.ACQUIRE && until - one.invokedNanos() > WAIT_NANOS) {
      double row = y + HOLD + 4 + client * WAIT;
      canvas.line(
          x(one.invokedNanos()),
          row,
          Math.max(x(until), x(one.invokedNanos()) + 1),
          row,
          Canvas.stroke(Palette.client(client), 2.2),
          one.client() + " waits for " + one.resource());
      if (one.outcome() != Outcome.DONE && isHere(until, until)) {
        canvas.circle(
            x(until),
            row,
            2.4,
            "fill=\"#ffffff\" " + Canvas.stroke(Palette.client(client), 1.2),
            one.client() + " waits no longer");
      }
    }
  }
}
