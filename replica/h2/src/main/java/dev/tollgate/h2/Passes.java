package dev.tollgate.h2;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a static method through which classes of H2 pass what they give to a constructor. The
 * method has the parameter of the constructor and returns it.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
@Repeatable(Passes.All.class)
@interface Passes {
  /** The class that is constructed. */
  String to();

  /** Several of them. */
  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.CLASS)
  @interface All {
    Passes[] value();
  }
}
