// In the place of CUDA 12's runtime: that it is loaded says which CUDA the program uses.
extern "C" int stand_in_runtime() {
  return 12;
}
