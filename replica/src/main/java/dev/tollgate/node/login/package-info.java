/** By which ways a user may log in from where, and what tokens and directories say of users. */
@NullMarked
package dev.tollgate.node.login;

import org.jspecify.annotations.NullMarked;
