package dev.tollgate.sql.tree;

import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * {@code LOCKED BY lock}.
 *
 * @param start the word LOCKED: from here on the text is not for H2
 * @param lock a character literal, a parameter, or a ROW around an expression in parentheses
 */
public record LockClause(SqlParserPos start, SqlNode lock) {}
