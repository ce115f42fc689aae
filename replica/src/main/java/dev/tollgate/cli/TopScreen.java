package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;

/**
 * Replaces the text on a terminal with the next one; prints texts one after the other elsewhere.
 */
final class TopScreen {
  private static final String ESCAPE = "\u001b[";
  private static final String HOME = ESCAPE + "H";
  private static final String CLEAR_LINE = ESCAPE + "K";
  private static final String CLEAR_REST = ESCAPE + "J";

  /** Lines that are too long are cut by the terminal, and the cursor is not in the way. */
  private static final String ENTER = ESCAPE + "?7l" + ESCAPE + "?25l" + HOME + CLEAR_REST;

  private static final String LEAVE = ESCAPE + "?7h" + ESCAPE + "?25h";

  private final PrintWriter out;
  private final boolean terminal;
  private boolean entered;

  TopScreen(PrintWriter out, boolean terminal) {
    this.out = requireNonNull(out, "out");
    this.terminal = terminal;
  }

  /** Shows a text in place of the last one. */
  synchronized void show(String text) {
    if (terminal) {
      // clears what the last text had in addition, and never the whole screen, which would flicker
      out.print((entered ? "" : ENTER) + HOME);
      entered = true;
      text.lines().forEach(line -> out.print(line + CLEAR_LINE + "\n"));
      out.print(CLEAR_REST);
    } else {
      out.println(text);
    }
    out.flush();
  }

  /** Gives the terminal back as it was. */
  synchronized void leave() {
    if (entered) {
      out.print(LEAVE);
      out.flush();
    }
  }
}
