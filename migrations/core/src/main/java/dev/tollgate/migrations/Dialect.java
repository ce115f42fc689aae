package dev.tollgate.migrations;

import java.sql.Connection;
import java.sql.SQLException;

/** How the server of a database reads the text of statements. */
public enum Dialect {
  TOLLGATE,
  H2,
  POSTGRESQL,
  /** MySQL too. */
  MARIADB,
  /** Any other: what is read in two ways elsewhere is rejected. */
  OTHER;

  /** By a URL of JDBC, which may name a wrapper of the driver before the database. */
  public static Dialect of(String url) {
    if (url.startsWith(Database.TOLLGATE)) {
      return TOLLGATE;
    }
    if (url.contains(":mariadb:") || url.contains(":mysql:")) {
      return MARIADB;
    }
    if (url.contains(":postgresql:")) {
      return POSTGRESQL;
    }
    return url.contains(":h2:") ? H2 : OTHER;
  }

  /** The dialect of the database behind a connection. */
  public static Dialect of(Connection connection) throws SQLException {
    String url = connection.getMetaData().getURL();
    return url == null ? OTHER : of(url);
  }

  /** True if {@code --} begins a comment only before a space or a control character. */
  boolean needsSpaceAfterDashes() {
    return this == MARIADB;
  }

  boolean hasHashComments() {
    return this == MARIADB;
  }

  /** True if two slashes begin a comment in the server. */
  boolean hasSlashComments() {
    return this == TOLLGATE || this == H2;
  }

  /** True if a lone carriage return ends a comment of a line. */
  boolean endsLinesAtReturns() {
    return this != MARIADB && this != OTHER;
  }

  /** True if a backslash within a string escapes the character behind it, as by default. */
  boolean escapesInStrings() {
    return this == MARIADB;
  }

  /** True if strings with an E before them have backslashes. */
  boolean hasEscapeStrings() {
    return this == POSTGRESQL || this == OTHER;
  }

  boolean hasBackquotes() {
    return this != POSTGRESQL;
  }

  boolean hasDollarQuotes() {
    return this != MARIADB;
  }

  /** True if what stands in a comment that begins with an exclamation mark is executed. */
  boolean executesComments() {
    return this == MARIADB;
  }
}
