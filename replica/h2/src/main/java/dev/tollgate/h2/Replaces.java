package dev.tollgate.h2;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a static method that classes of H2 call in the place of another method. If an instance
 * method is replaced, the first parameter is the object on which it would have been called.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
@interface Replaces {
  /** The classes that H2's calls name, such as {@code java.lang.System}. */
  String[] of();

  /** The name of the replaced method; that of the marked method if empty. */
  String method() default "";

  /** True if the replaced method is static. */
  boolean isStatic() default false;

  /** The only class of H2 whose calls are replaced; all classes if empty. */
  String in() default "";
}
