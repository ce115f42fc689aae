package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two runs that share a terminal do not write into each other's lines. */
class PrintedProgressTest {
  @Test
  void lineIsWrittenAsOnePiece() {
    List<String> pieces = new ArrayList<>();
    OutputStream terminal =
        new OutputStream() {
          @Override
          public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int offset, int length) {
            pieces.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
          }
        };
    PrintStream out = new PrintStream(terminal, /* autoFlush= */ true, StandardCharsets.UTF_8);
    new PrintedProgress(out).lockTaken("migrations", 7);
    assertEquals(List.of("lock 'migrations' taken under token 7" + System.lineSeparator()), pieces);
  }
}
