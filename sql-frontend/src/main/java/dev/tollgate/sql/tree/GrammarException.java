package dev.tollgate.sql.tree;

import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Thrown by the grammar to refuse a statement with its own sentence, where a list of expected
 * tokens would say too little.
 */
public final class GrammarException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient SqlParserPos position;

  public GrammarException(SqlParserPos position, String sentence) {
    super(sentence);
    this.position = position;
  }

  public static GrammarException expected(SqlParserPos position, String found, String expected) {
    return new GrammarException(position, "unexpected \"" + found + "\", expected " + expected);
  }

  public SqlParserPos position() {
    return position;
  }
}
