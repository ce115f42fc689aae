package dev.tollgate.testcontainers;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A cluster of one node, whose data ends with the container. There are no users and no databases:
 * {@link #getUsername} and {@link #getPassword} are empty, and the settings for them are refused.
 *
 * <p>The node tells clients the address under which this machine reaches it. That address has a
 * port that is known only when the container runs, so the node starts as soon as it is known. A
 * client in another container finds the node by its alias in the network, and port {@link
 * #CLIENT_PORT}.
 */
public class TollgateContainer extends JdbcDatabaseContainer<TollgateContainer> {
  /** Where the node listens, inside the container. */
  public static final int CLIENT_PORT = 7400;

  /** The image, without a tag. No registry has it: replica/docker/build.sh builds it. */
  static final DockerImageName IMAGE = DockerImageName.parse("tollgate");

  private static final String HEAP = "256m";

  /** The second compiler does not pay in a node that ends soon. */
  private static final String JAVA_OPTS = "-XX:TieredStopAtLevel=1";

  private static final String START = "/tmp/tollgate-start";

  private final DockerImageName image;

  /** With the image of the version that this class has. */
  public TollgateContainer() {
    this(IMAGE.withTag(version()));
  }

  /**
   * @param image {@code tollgate} with a tag, or one that is declared a {@code
   *     asCompatibleSubstituteFor("tollgate")}
   */
  public TollgateContainer(DockerImageName image) {
    super(image);
    this.image = image;
    image.assertCompatibleWith(IMAGE);
    if (image.getUnversionedPart().equals(IMAGE.getUnversionedPart())) {
      // what a registry has under this name is not ours
      withImagePullPolicy(name -> false);
    }
    addExposedPort(CLIENT_PORT);
    withEnv("TOLLGATE_HEAP", HEAP);
    withEnv("TOLLGATE_INSECURE", "true");
    withEnv("TOLLGATE_JAVA_OPTS", JAVA_OPTS);
    withCreateContainerCmdModifier(command -> command.withEntrypoint("sh", "-c"));
    setCommandParts(
        new String[] {"until [ -s " + START + " ]; do sleep 0.1; done; exec sh " + START});
  }

  private static String version() {
    try (InputStream in = TollgateContainer.class.getResourceAsStream("image.properties")) {
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("tag");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void start() {
    try {
      super.start();
    } catch (ContainerLaunchException e) {
      throw isImageMissing(e)
          ? new ContainerLaunchException(
              "there is no image "
                  + image.asCanonicalNameString()
                  + ": build it with replica/docker/build.sh of Tollgate's source tree",
              e)
          : e;
    }
  }

  private static boolean isImageMissing(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .anyMatch(each -> each instanceof NotFoundException);
  }

  /** The port is known: the node may start, and tell clients of it. */
  @Override
  protected void containerIsStarting(InspectContainerResponse container) {
    String script = "TOLLGATE_CLIENT_ADDRESS=" + address() + " exec tollgate server --id n1\n";
    copyFileToContainer(Transferable.of(script), START);
  }

  private String address() {
    return getHost() + ":" + getMappedPort(CLIENT_PORT);
  }

  @Override
  public String getDriverClassName() {
    return "dev.tollgate.jdbc.TollgateDriver";
  }

  /** Also for {@code LockClient.connect}. */
  @Override
  public String getJdbcUrl() {
    return "jdbc:tollgate://" + address() + "/" + constructUrlParameters("?", "&");
  }

  /** Empty: nodes know no users. */
  @Override
  public String getUsername() {
    return "";
  }

  /** Empty: nodes know no users. */
  @Override
  public String getPassword() {
    return "";
  }

  @Override
  protected String getTestQueryString() {
    return "SELECT 1";
  }
}
