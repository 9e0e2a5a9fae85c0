package referee.kit;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;

/**
 * The limits of a match. Null means that there is no such limit. Times are in milliseconds of wall time.
 *
 * @param startupMs from the start of the process to the answer to {@code initialize}
 * @param callMs for one call
 * @param openingMs for one call in the opening; null if it is the same as later
 * @param closingMs for a call after the result
 * @param exitMs from {@code exit} to the end of the process
 * @param initialMs the time bank at the start of the match
 * @param incrementMs added to the bank after every answer in time
 * @param cpuMs CPU time for the whole match
 * @param memoryBytes memory of the process and of everything that it started
 * @param processes processes alive at a time
 * @param frameBytes one frame that the bot sends
 * @param callOutputBytes standard output in one call
 * @param stderrBytes standard error that the referee keeps
 * @param fileBytes one file that the bot writes
 * @param scratchBytes all files in the home folder together
 */
@JsonNaming(SnakeCaseStrategy.class)
public record Limits(
        Long startupMs, Long callMs, Long openingMs, Long closingMs, Long exitMs, Long initialMs, Long incrementMs,
        Long cpuMs, Long memoryBytes, Long processes, Long frameBytes, Long callOutputBytes, Long stderrBytes,
        Long fileBytes, Long scratchBytes) {
    static final Limits NONE = new Limits(
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
}
