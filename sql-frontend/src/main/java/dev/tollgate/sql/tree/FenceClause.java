package dev.tollgate.sql.tree;

import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * {@code FENCED [MONOTONIC] BY LOCK lock [TOKEN token]}.
 *
 * @param start the word FENCED: from here on the text is not for H2
 * @param lock a character literal, a parameter, or a ROW around an expression in parentheses
 * @param token an integer literal or a parameter; null when the clause binds a table
 */
public record FenceClause(
    SqlParserPos start, boolean monotonic, SqlNode lock, @Nullable SqlNode token) {}
