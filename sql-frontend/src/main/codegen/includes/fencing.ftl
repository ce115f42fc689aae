/* FENCED BY LOCK, the clause that is Tollgate's own, SET FENCING TOKEN and SET FENCED. */

/**
 * FENCED [MONOTONIC] BY LOCK name [TOKEN token]. With TOKEN, the clause fences the statement that it ends, or after
 * SET all writes of the session. Without TOKEN, it binds the table that the statement creates or alters. The
 * planner decides which of these may stand where, and says so in words.
 */
FenceClause FenceClause() :
{
    final SqlParserPos start;
    boolean monotonic = false;
    final SqlNode lock;
    SqlNode token = null;
}
{
    <FENCED> { start = getPos(); }
    [ LOOKAHEAD({ isNext("MONOTONIC") }) <IDENTIFIER> { monotonic = true; } ]
    <BY> Word("LOCK") lock = LockName()
    [ LOOKAHEAD({ isNext("TOKEN") }) <IDENTIFIER> token = IntegerOrParameter() ]
    { return new FenceClause(start, monotonic, lock, token); }
}

/** A literal, a parameter, or an expression in parentheses, which becomes a row of one field. */
SqlNode LockName() :
{
    final SqlNode name;
    final Span s;
}
{
    (
        name = TextOrParameter()
    |
        <LPAREN> { s = span(); } name = Expression(ExprContext.ACCEPT_SUB_QUERY) <RPAREN>
        { return SqlStdOperatorTable.ROW.createCall(s.end(this), name); }
    )
    { return name; }
}

SqlNode IntegerOrParameter() :
{ final SqlNode value; }
{
    (
        <UNSIGNED_INTEGER_LITERAL> { value = SqlLiteral.createExactNumeric(getToken(0).image, getPos()); }
    |
        value = DynamicParam()
    )
    { return value; }
}

/** SET FENCING TOKEN { n | ? | NULL } FOR LOCK { 'name' | ? } */
Statement PresentTokenStatement() :
{
    final SqlNode token;
    final SqlNode lock;
}
{
    <SET> Word("FENCING") Word("TOKEN")
    (
        token = IntegerOrParameter()
    |
        <NULL> { token = SqlLiteral.createNull(getPos()); }
    )
    <FOR> Word("LOCK") lock = LockName()
    { return new Statement.PresentToken(lock, token); }
}

/** SET FENCED BY LOCK lock TOKEN token, and SET NOT FENCED */
Statement FenceSessionStatement() :
{ FenceClause fence = null; }
{
    <SET>
    (
        <NOT> <FENCED>
    |
        fence = FenceClause()
    )
    { return new Statement.FenceSession(fence); }
}
