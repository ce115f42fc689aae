/*
 * The entry point of Tollgate's grammar, and the statements that are not about tables.
 *
 * Rule for all of Tollgate's productions: a production may leave out of its result only what can hold neither an
 * expression nor the name of a table. The checks see only the tree; H2 sees all tokens.
 */

/** Takes a word that is not a token of the grammar and that must stand here. */
void Word(String word) :
{}
{
    {
        final Token next = getToken(1);
        if (!next.image.equalsIgnoreCase(word)) {
            final SqlParserPos position =
                new SqlParserPos(next.beginLine, next.beginColumn, next.endLine, next.endColumn);
            throw next.kind == EOF
                ? new GrammarException(position, "the statement ends too early, expected " + word)
                : GrammarException.expected(position, next.image, word);
        }
    }
    <IDENTIFIER>
}

/** One statement and the end of the text. */
Statement TollgateStatement() :
{ final Statement statement; }
{
    // One token decides. Some of these words may also be names (START, CALL). In Calcite's grammar a query may
    // begin with an expression, so it conflicts with these words. But ACCEPT_QUERY refuses a query that begins with
    // a name, so nothing is lost when these alternatives come first.
    (
        LOOKAHEAD(1) statement = ChangeStatement()
    |
        LOOKAHEAD({ areNext("CREATE", "LOCK") || areNext("ALTER", "LOCK") || areNext("DROP", "LOCK") })
        statement = ConfigureLockStatement()
    |
        LOOKAHEAD({ isUserStatementNext() }) statement = UserStatement()
    |
        LOOKAHEAD(1) statement = CreateStatement()
    |
        LOOKAHEAD(1) statement = AlterStatement()
    |
        LOOKAHEAD(1) statement = DropStatement()
    |
        LOOKAHEAD(1) statement = TruncateStatement()
    |
        LOOKAHEAD({ isRightOfTollgateNext() }) statement = ConfigureRightStatement()
    |
        LOOKAHEAD(1) statement = RightsStatement()
    |
        LOOKAHEAD({ isNext("COMMENT") }) statement = CommentStatement()
    |
        LOOKAHEAD(1) statement = ExplainStatement()
    |
        LOOKAHEAD(1) statement = CallStatement()
    |
        LOOKAHEAD(1) statement = ShowStatement()
    |
        LOOKAHEAD({ isNext("SET") && getToken(2).image.equalsIgnoreCase("FENCING") }) statement = PresentTokenStatement()
    |
        LOOKAHEAD({ areKindsNext(SET, FENCED) || areKindsNext(SET, NOT) }) statement = FenceSessionStatement()
    |
        LOOKAHEAD({ isNext("SCRIPT") }) statement = ScriptStatement()
    |
        LOOKAHEAD(1) statement = SetStatement()
    |
        LOOKAHEAD(1) statement = TransactionStatement()
    |
        statement = QueryStatement()
    )
    <EOF>
    { return statement; }
}

/** A query, with the row-lock clause that Calcite lacks. */
Statement QueryStatement() :
{
    final SqlNode query;
    SqlParserPos forUpdate = null;
}
{
    query = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY)
    [
        <FOR> <UPDATE> { forUpdate = getPos(); }
        [
            LOOKAHEAD({ isNext("NOWAIT") }) <IDENTIFIER>
        |
            LOOKAHEAD({ isNext("WAIT") }) <IDENTIFIER> UnsignedNumericLiteral()
        |
            <SKIP_> Word("LOCKED")
        ]
    ]
    { return new Statement.Query(query, forUpdate); }
}

Statement ExplainStatement() :
{
    final Statement explained;
    SqlParserPos analyze = null;
}
{
    <EXPLAIN>
    // neither a query nor a change begins with PLAN or ANALYZE
    (
        LOOKAHEAD(1) <PLAN> [ <FOR> ]
    |
        LOOKAHEAD({ isNext("ANALYZE") }) <IDENTIFIER> { analyze = getPos(); }
    |
        {}
    )
    (
        LOOKAHEAD(1) explained = ChangeStatement()
    |
        explained = QueryStatement()
    )
    { return new Statement.Explain(explained, analyze); }
}

/** CALL evaluates an expression: CALL SCHEMA(), CALL NEXT VALUE FOR s. A CallableStatement puts "? =" in front. */
Statement CallStatement() :
{
    final SqlNode expression;
    boolean outParameter = false;
}
{
    [ DynamicParam() <EQ> { outParameter = true; } ]
    <CALL> expression = Expression(ExprContext.ACCEPT_SUB_QUERY)
    { return new Statement.Call(expression, outParameter); }
}

/** Nothing in SHOW is kept: its names can only be read, and all of them lie in INFORMATION_SCHEMA. */
Statement ShowStatement() :
{}
{
    <SHOW>
    (
        LOOKAHEAD({ isNext("TABLES") }) <IDENTIFIER> [ <FROM> SimpleIdentifier() ]
    |
        LOOKAHEAD({ isNext("COLUMNS") }) <IDENTIFIER> <FROM> CompoundIdentifier() [ <FROM> SimpleIdentifier() ]
    |
        LOOKAHEAD(1) <TRANSACTION> <ISOLATION> <LEVEL>
    |
        ShowWord()
    )
    { return new Statement.Show(); }
}

/** SCRIPT. The tables and schemas that it names are only read, and the checks let queries read any. */
Statement ScriptStatement() :
{
    final List<SqlIdentifier> schemas = new ArrayList<SqlIdentifier>();
    SqlIdentifier schema;
    SqlParserPos file = null;
}
{
    <IDENTIFIER>
    [ LOOKAHEAD({ isNext("NODATA") }) <IDENTIFIER> | <SIMPLE> ]
    [ LOOKAHEAD({ isNext("COLUMNS") }) <IDENTIFIER> ]
    [ LOOKAHEAD({ isNext("NOPASSWORDS") }) <IDENTIFIER> ]
    [ LOOKAHEAD({ isNext("NOSETTINGS") }) <IDENTIFIER> ]
    [ LOOKAHEAD({ isNext("NOVERSION") }) <IDENTIFIER> ]
    [ <DROP> ]
    [ LOOKAHEAD({ isNext("BLOCKSIZE") }) <IDENTIFIER> UnsignedNumericLiteral() ]
    [
        <TO> { file = getPos(); } StringLiteral()
        [ LOOKAHEAD({ isNext("COMPRESSION") }) <IDENTIFIER> SimpleIdentifier() ]
        [ LOOKAHEAD({ isNext("CIPHER") }) <IDENTIFIER> SimpleIdentifier() [ LOOKAHEAD({ isNext("PASSWORD") }) <IDENTIFIER> StringLiteral() ] ]
        [ LOOKAHEAD({ isNext("CHARSET") }) <IDENTIFIER> StringLiteral() ]
    ]
    [
        <SCHEMA> schema = SimpleIdentifier() { schemas.add(schema); }
        ( <COMMA> schema = SimpleIdentifier() { schemas.add(schema); } )*
    |
        <TABLE> CompoundIdentifier() ( <COMMA> CompoundIdentifier() )*
    ]
    { return new Statement.Script(schemas, file); }
}

void ShowWord() :
{}
{
    <IDENTIFIER>
    { WordChoice.checkShow(getToken(0).image, getPos()); }
}
