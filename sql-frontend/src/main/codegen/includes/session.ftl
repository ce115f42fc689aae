/* SET and transaction control: statements about the session, which never reach H2 as they were written. */

/** The settings a client may change. Any other SET was refused before the parser ran, see StatementRules. */
Statement SetStatement() :
{
    final String setting;
    SqlNode value = null;
}
{
    <SET>
    (
        <SCHEMA> { setting = "SCHEMA"; } [ <EQ> ]
        ( value = StringLiteral() | value = DynamicParam() | value = SimpleIdentifier() )
    |
        <TIME> <ZONE> { setting = "TIME_ZONE"; }
        ( value = StringLiteral() | value = DynamicParam() | value = IntervalLiteral() | <LOCAL> )
    |
        [ <SESSION> <CHARACTERISTICS> <AS> ]
        <TRANSACTION> <ISOLATION> <LEVEL> { setting = "ISOLATION"; }
        value = IsolationLevel()
    |
        LOOKAHEAD({ isNext("AUTOCOMMIT") })
        <IDENTIFIER> { setting = "AUTOCOMMIT"; } [ <EQ> ] value = OnOrOff()
    |
        <IDENTIFIER> { setting = WordChoice.timeout(getToken(0).image, getPos()); }
        [ <EQ> ] value = UnsignedNumericLiteralOrParam()
    )
    { return new Statement.SetSession(setting, value); }
}

SqlNode IsolationLevel() :
{ final String level; }
{
    (
        <SERIALIZABLE> { level = "SERIALIZABLE"; }
    |
        <REPEATABLE> <READ> { level = "REPEATABLE READ"; }
    |
        <READ> ( <COMMITTED> { level = "READ COMMITTED"; } | <UNCOMMITTED> { level = "READ UNCOMMITTED"; } )
    |
        Word("SNAPSHOT") { level = "SNAPSHOT"; }
    )
    { return SqlLiteral.createCharString(level, getPos()); }
}

SqlNode OnOrOff() :
{ final boolean on; }
{
    (
        <TRUE> { on = true; }
    |
        <ON> { on = true; }
    |
        <FALSE> { on = false; }
    |
        Word("OFF") { on = false; }
    )
    { return SqlLiteral.createBoolean(on, getPos()); }
}

Statement TransactionStatement() :
{
    final String verb;
    SqlIdentifier savepoint = null;
}
{
    (
        <COMMIT> { verb = "COMMIT"; } [ <WORK> ]
    |
        <ROLLBACK> [ <WORK> ]
        (
            <TO> { verb = "ROLLBACK_TO"; } savepoint = Savepoint()
        |
            { verb = "ROLLBACK"; }
        )
    |
        <SAVEPOINT> { verb = "SAVEPOINT"; } savepoint = SimpleIdentifier()
    |
        <RELEASE> { verb = "RELEASE"; } savepoint = Savepoint()
    |
        <BEGIN> { verb = "BEGIN"; } [ <WORK> | <TRANSACTION> ]
    |
        <START> <TRANSACTION> { verb = "BEGIN"; }
    )
    { return new Statement.Transact(verb, savepoint); }
}

/** [SAVEPOINT] name. A savepoint that is itself called SAVEPOINT must be written in quotes. */
SqlIdentifier Savepoint() :
{ final SqlIdentifier name; }
{
    [ LOOKAHEAD(1) <SAVEPOINT> ] name = SimpleIdentifier()
    { return name; }
}
