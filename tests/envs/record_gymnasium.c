// Gives Python the fields of mjModel and mjData of the installed MuJoCo, for record_gymnasium.py.
//
//   cc -shared -fPIC -o record_gymnasium.so record_gymnasium.c -Wl,--no-as-needed -lmujoco

#include <mujoco/mujoco.h>
#include <mujoco/mjxmacro.h>
#include <string.h>

typedef struct {
  const char* name;
  const char* type;  // as in C: "mjtNum", "int", "mjtByte"
  void* data;
  long rows;
  long cols;
} Field;

#define X(type, name, nr, nc) \
  fields[count++] = (Field){#name, #type, (void*)m->name, (long)m->nr, (long)(nc)};

int model_fields(const mjModel* m, Field* fields) {
  MJMODEL_POINTERS_PREAMBLE(m)
  int count = 0;
  MJMODEL_POINTERS
  (void)na, (void)nq, (void)nv, (void)nu, (void)nmocap;
  return count;
}

#undef X
#define X(type, name, nr, nc) \
  fields[count++] = (Field){#name, #type, (void*)d->name, (long)m->nr, (long)(nc)};

int data_fields(const mjModel* m, mjData* d, Field* fields) {
  MJDATA_POINTERS_PREAMBLE(m)
  int count = 0;
  MJDATA_POINTERS
  return count;
}

#undef X
#define X(name) \
  if (strcmp(field, #name) == 0) return m->name;

// Returns a count such as nq; -1 where there is none of this name.
int model_size(const mjModel* m, const char* field) {
  MJMODEL_INTS
  return -1;
}


// timestep, density, viscosity, impratio, tolerance, gravity
void option_numbers(const mjModel* m, double* out) {
  const mjOption* o = &m->opt;
  const double numbers[] = {o->timestep,  o->density,    o->viscosity,  o->impratio,
                            o->tolerance, o->gravity[0], o->gravity[1], o->gravity[2]};
  memcpy(out, numbers, sizeof numbers);
}

// integrator, collision, cone, jacobian, solver, iterations
void option_choices(const mjModel* m, int* out) {
  const mjOption* o = &m->opt;
  const int choices[] = {o->integrator, o->collision, o->cone,
                         o->jacobian,   o->solver,    o->iterations};
  memcpy(out, choices, sizeof choices);
}
