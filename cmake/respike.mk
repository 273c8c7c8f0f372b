# Faster images of programs that a makefile builds, from a profile. Set these, then include this
# file:
#
#   RESPIKE_PROGRAMS   the programs of the application, or its library
#   RESPIKE_PROFILE    a profile of `respike profile export`; or
#   RESPIKE_TRAIN      a command that runs the programs with typical work: they are counted below it
#   RESPIKE_OUTPUT     the folder for the faster images (fast)
#   RESPIKE_NAME       name of the application (the first program's file name)
#   RESPIKE_DB         the database ($(RESPIKE_OUTPUT).respike/respike.db)
#
# Link the programs with $(RESPIKE_LDFLAGS). `make respike` makes the faster images of changed
# programs, and trains the first time; `make respike-train` trains again and adds the counts.
# Example:
#
#   RESPIKE_PROGRAMS := build/sort
#   RESPIKE_TRAIN := build/sort train.txt > /dev/null
#   include /usr/share/respike/respike.mk
#   build/sort: sort.c
#   	$(CC) -O2 $(RESPIKE_LDFLAGS) $< -o $@
#   all: respike

RESPIKE ?= respike
RESPIKE_LDFLAGS := -Wl,--emit-relocs
RESPIKE_OUTPUT ?= fast
RESPIKE_NAME ?= $(notdir $(firstword $(RESPIKE_PROGRAMS)))
RESPIKE_DB ?= $(RESPIKE_OUTPUT).respike/respike.db

respike_stamp := $(RESPIKE_OUTPUT).respike/trained
respike_run := $(RESPIKE) --db $(RESPIKE_DB)

.PHONY: respike respike-train
ifdef RESPIKE_PROFILE
respike: $(RESPIKE_PROGRAMS) $(RESPIKE_PROFILE)
	@mkdir -p $(dir $(respike_stamp))
	$(respike_run) register $(RESPIKE_PROGRAMS) --name $(RESPIKE_NAME)
	$(respike_run) optimize $(RESPIKE_NAME) --profile $(RESPIKE_PROFILE)
	$(respike_run) export $(RESPIKE_NAME) $(RESPIKE_OUTPUT)
else
respike: $(RESPIKE_PROGRAMS) $(respike_stamp)
	$(respike_run) register $(RESPIKE_PROGRAMS) --name $(RESPIKE_NAME)
	$(respike_run) optimize $(RESPIKE_NAME)
	$(respike_run) export $(RESPIKE_NAME) $(RESPIKE_OUTPUT)

# A rebuilt program does not train again: its profile is carried over.
export RESPIKE_TRAIN
respike-train $(respike_stamp): | $(RESPIKE_PROGRAMS)
	@mkdir -p $(dir $(respike_stamp))
	$(respike_run) register $(RESPIKE_PROGRAMS) --name $(RESPIKE_NAME)
	$(respike_run) instrument $(RESPIKE_NAME)
	$(respike_run) exec $(RESPIKE_NAME) -- sh -c "$$RESPIKE_TRAIN"
	$(respike_run) collect $(RESPIKE_NAME)
	@touch $(respike_stamp)
endif
