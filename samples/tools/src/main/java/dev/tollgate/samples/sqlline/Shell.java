package dev.tollgate.samples.sqlline;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import sqlline.SqlLine;

/**
 * Runs a script with sqlline: SQL, and sqlline's own commands that begin with an exclamation mark.
 *
 * <p>Run it: {@code samples/tools/run.sh sqlline.Shell samples/tools/tour.sql}.
 */
public final class Shell {
  private Shell() {}

  /**
   * @param url of the cluster
   * @param script statements that end in semicolons, and commands that end with the line
   * @param out receives what sqlline prints
   * @return whether every step succeeded; the script stops at the first step that fails
   */
  public static boolean run(String url, Path script, PrintStream out) throws IOException {
    SqlLine shell = new SqlLine();
    shell.setOutputStream(out);
    shell.setErrorStream(out);
    String[] arguments = {
      "-u",
      url,
      "-n",
      "",
      "-p",
      "",
      "-f",
      script.toString(),
      "--outputformat=csv",
      // otherwise sqlline asks for REPEATABLE_READ, and says that it cannot have it
      "--isolation=TRANSACTION_READ_COMMITTED"
    };
    return shell.begin(arguments, null, /* saveHistory= */ false) == SqlLine.Status.OK;
  }

  /**
   * @param arguments the JDBC URL, the file
   */
  public static void main(String[] arguments) throws IOException {
    boolean worked = run(arguments[0], Path.of(arguments[1]), System.out);
    System.exit(worked ? 0 : 1);
  }
}
