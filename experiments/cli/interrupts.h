#ifndef LFIW_EXPERIMENTS_CLI_INTERRUPTS_H_
#define LFIW_EXPERIMENTS_CLI_INTERRUPTS_H_

#include "core/layers.h"

namespace lfiw::experiments {

// Ctrl-C (SIGINT) and what batch systems send at the end of a job's time (SIGTERM) ask for a
// checkpoint and an orderly end; the second one ends the program at once.
//
// Both are held in every thread but one, which waits for them. A handler would not do: it runs on
// the stack of the thread that the signal finds, and oneDNN's single precision product (2.6.3)
// keeps numbers below the stack pointer, where the handler's frame overwrites them. A product that
// is interrupted so gives wrong numbers, or corrupts the heap.
//
// The program's libraries take a good part of a second to load, twice where it restarts itself for
// another kernel of OpenBLAS. Both signals are held from before their initializers on, so that one
// that comes meanwhile waits for TakeInterrupts instead of ending the program without a word.

// From here on the two signals, also those that were held, set InterruptRequested. Call before
// other threads start.
void TakeInterrupts();

// The exit status of a program that stopped as it was asked to: 128 plus the number of the signal,
// as shells have it (130 for SIGINT, 143 for SIGTERM).
int InterruptedStatus();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_INTERRUPTS_H_
