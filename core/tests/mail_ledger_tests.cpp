#include "expect.h"
int main() { return told(); }
