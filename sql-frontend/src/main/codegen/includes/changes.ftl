/* INSERT, UPDATE, DELETE and MERGE as H2 knows them. Calcite's own four productions are never reached. */

Statement ChangeStatement() :
{
    final DataChange change;
    FenceClause fence = null;
    LockClause lock = null;
}
{
    change = DataChange()
    [
        ( fence = FenceClause() | lock = LockClause() )
        [ ( <FENCED> | <LOCKED> ) { throw new GrammarException(getPos(), "a statement ends with one clause about a lock:"
            + " FENCED BY LOCK with the token of a lock that is held, or LOCKED BY, which takes the lock first"); } ]
    ]
    { return new Statement.Change(change, fence, lock); }
}

DataChange DataChange() :
{ final DataChange change; }
{
    (
        change = Insert()
    |
        change = Update()
    |
        change = Delete()
    |
        change = Merge()
    )
    { return change; }
}

/** FINAL | NEW | OLD TABLE (change). Spliced into TableRef3 by patch-template.xml. */
SqlNode DeltaTable() :
{
    final Span s;
    final DataChange change;
}
{
    ( <FINAL> | <NEW> | <OLD> ) { s = span(); }
    <TABLE> <LPAREN> change = DataChange() <RPAREN>
    { return new DeltaTable(s.end(this), change); }
}

DataChange Insert() :
{
    final Span s;
    final SqlIdentifier target;
    final SqlNode source;
    final List<SqlNode> parts = new ArrayList<SqlNode>();
}
{
    <INSERT> { s = span(); } <INTO> target = CompoundIdentifier()
    [ LOOKAHEAD(2) ColumnsOrNone() ]
    [ LOOKAHEAD(2) Overriding() ]
    (
        <DEFAULT_> <VALUES>
    |
        LOOKAHEAD({ isEmptyRowNext() }) <VALUES> <LPAREN> <RPAREN> ( <COMMA> <LPAREN> <RPAREN> )*
    |
        <SET> Assignments(parts)
    |
        // DIRECT and SORTED say how H2 writes the rows, not which rows
        [ LOOKAHEAD({ isNext("DIRECT") }) <IDENTIFIER> ] [ LOOKAHEAD({ isNext("SORTED") }) <IDENTIFIER> ]
        source = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY) { parts.add(source); }
    )
    { return new DataChange(s.end(this), DataChange.Verb.INSERT, target, null, parts); }
}

/** INSERT INTO t() VALUES () */
void ColumnsOrNone() :
{}
{
    LOOKAHEAD({ areKindsNext(LPAREN, RPAREN) }) <LPAREN> <RPAREN>
|
    TargetColumns()
}

/** The columns that get values. No later check sees these columns, so the key of a row is refused here. */
void TargetColumns() :
{ final SqlNodeList columns; }
{
    columns = ParenthesizedSimpleIdentifierList() { WordChoice.checkTargets(columns); }
}

void Overriding() :
{}
{
    <OVERRIDING> ( <USER> | <SYSTEM> ) <VALUE>
}

DataChange Update() :
{
    final Span s;
    final SqlIdentifier target;
    final SqlNode where;
    final List<SqlNode> parts = new ArrayList<SqlNode>();
}
{
    <UPDATE> { s = span(); } target = CompoundIdentifier()
    [ [ <AS> ] SimpleIdentifier() ]
    <SET> Assignments(parts)
    [ where = Where() { parts.add(where); } ]
    [ <ORDER> { throw new GrammarException(getPos(), "UPDATE has no ORDER BY, because H2 ignores it: LIMIT and FETCH"
        + " take the first rows in the order of the primary key, if that is an integer, else of their insertion; for"
        + " another order write WHERE key IN (SELECT key FROM ... ORDER BY ... FETCH FIRST n ROWS ONLY)"); } ]
    [ RowLimit(parts) ]
    { return new DataChange(s.end(this), DataChange.Verb.UPDATE, target, null, parts); }
}

void Assignments(List<SqlNode> parts) :
{}
{
    Assignment(parts) ( <COMMA> Assignment(parts) )*
}

void Assignment(List<SqlNode> parts) :
{
    final SqlNode value;
    final SqlIdentifier column;
}
{
    ( column = CompoundIdentifier() { WordChoice.checkTarget(column); } ArrayIndexes(parts) | TargetColumns() )
    <EQ>
    ( <DEFAULT_> | value = Expression(ExprContext.ACCEPT_SUB_QUERY) { parts.add(value); } )
}

/** SET a[2][1] = 3 */
void ArrayIndexes(List<SqlNode> parts) :
{}
{
    ( <LBRACKET> AddExpression(parts, ExprContext.ACCEPT_SUB_QUERY) <RBRACKET> )*
}

DataChange Delete() :
{
    final Span s;
    final SqlIdentifier target;
    final SqlNode where;
    final List<SqlNode> parts = new ArrayList<SqlNode>();
}
{
    <DELETE> { s = span(); } [ <FROM> ] target = CompoundIdentifier()
    [ [ <AS> ] SimpleIdentifier() ]
    [ where = Where() { parts.add(where); } ]
    [ RowLimit(parts) ]
    { return new DataChange(s.end(this), DataChange.Verb.DELETE, target, null, parts); }
}

/** LIMIT n or FETCH FIRST n ROWS ONLY after an UPDATE or a DELETE. */
void RowLimit(List<SqlNode> parts) :
{ final SqlNode count; }
{
    (
        <LIMIT> count = Expression(ExprContext.ACCEPT_SUB_QUERY) { parts.add(count); }
    |
        <FETCH> ( <FIRST> | <NEXT> ) count = FetchCount() { parts.add(count); }
    )
}

/** What follows the ON of a join; spliced into JoinTable by patch-template.xml. */
SqlNode JoinConditions() :
{
    SqlNode all;
    SqlNode next;
}
{
    all = Expression(ExprContext.ACCEPT_SUB_QUERY)
    (
        LOOKAHEAD(1)
        <ON> next = Expression(ExprContext.ACCEPT_SUB_QUERY)
        { all = SqlStdOperatorTable.AND.createCall(Span.of(all).end(this), all, next); }
    )*
    { return all; }
}

/** What follows FETCH FIRST; spliced into FetchClause by patch-template.xml. */
SqlNode FetchCount() :
{ SqlNode count = LITERAL_ONE; }
{
    [
        // ROW may also begin an expression, ROW(1, 2), but H2 does not read an expression here
        LOOKAHEAD({ getToken(1).kind != ROW && getToken(1).kind != ROWS })
        count = Expression(ExprContext.ACCEPT_SUB_QUERY) [ <PERCENT> ]
    ]
    ( <ROW> | <ROWS> )
    ( <ONLY> | <WITH> <TIES> )
    { return count; }
}

/** MERGE INTO t [(cols)] [KEY (cols)] VALUES | query, and the standard MERGE with any number of WHEN clauses. */
DataChange Merge() :
{
    final Span s;
    final SqlIdentifier target;
    SqlNode using = null;
    final SqlNode node;
    final List<SqlNode> parts = new ArrayList<SqlNode>();
}
{
    <MERGE> { s = span(); } <INTO> target = CompoundIdentifier()
    (
        // "t USING x", "t a USING x" or "t AS a USING x"; the other form has "(", KEY or a query after t
        LOOKAHEAD(3)
        [ [ <AS> ] SimpleIdentifier() ]
        <USING> using = TableRef() <ON> node = Expression(ExprContext.ACCEPT_SUB_QUERY) { parts.add(node); }
        ( MergeWhen(parts) )+
    |
        [ LOOKAHEAD(2) TargetColumns() ]
        [ LOOKAHEAD(2) <KEY> TargetColumns() ]
        node = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY) { parts.add(node); }
    )
    { return new DataChange(s.end(this), DataChange.Verb.MERGE, target, using, parts); }
}

void MergeWhen(List<SqlNode> parts) :
{ final SqlNodeList values; }
{
    <WHEN>
    (
        <MATCHED> MergeCondition(parts) <THEN>
        ( <UPDATE> <SET> Assignments(parts) | <DELETE> )
    |
        <NOT> <MATCHED> MergeCondition(parts) <THEN>
        <INSERT> [ LOOKAHEAD(2) TargetColumns() ]
        [ LOOKAHEAD(2) Overriding() ]
        <VALUES> values = ParenthesizedQueryOrCommaListWithDefault(ExprContext.ACCEPT_SUB_QUERY)
        { parts.addAll(values.getList()); }
    )
}

void MergeCondition(List<SqlNode> parts) :
{ final SqlNode condition; }
{
    [ <AND> condition = Expression(ExprContext.ACCEPT_SUB_QUERY) { parts.add(condition); } ]
}
